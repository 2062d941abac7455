/** The server, put together. */
package org.traceetl.server;
