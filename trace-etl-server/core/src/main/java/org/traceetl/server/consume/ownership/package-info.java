/** The ownership of a queue: its take-over, lease, sealed windows, and release. */
package org.traceetl.server.consume.ownership;
