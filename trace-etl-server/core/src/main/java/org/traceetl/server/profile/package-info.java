/** The parts of a server that depend on its profile. */
package org.traceetl.server.profile;
