/** The configuration of all parts of the server, put together and checked. */
package org.traceetl.server.binding;
