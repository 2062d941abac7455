/** Real servers for tests, of this module and others. */
package org.traceetl.server.testing;
