/** What the server says of itself: its books, its speed and its size, as metrics. */
package org.traceetl.server.telemetry;
