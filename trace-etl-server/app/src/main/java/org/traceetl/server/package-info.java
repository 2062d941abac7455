/** The assembly of the server. */
package org.traceetl.server;
