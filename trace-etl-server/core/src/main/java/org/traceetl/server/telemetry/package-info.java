/** The server's metrics about itself: books, speed, size. */
package org.traceetl.server.telemetry;
