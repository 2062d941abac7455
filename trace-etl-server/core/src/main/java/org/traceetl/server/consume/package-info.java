/** Consumption of the span topic: queue ownership, offsets, and counting each batch once. */
package org.traceetl.server.consume;
