package org.traceetl.server.features.hotspot;

/**
 * The backlog of a queue.
 *
 * @param messages messages that have arrived and are in no known window, including those of the
 *     open window and of one on its way; -1 if unknown
 * @param spans approximate number of spans in them; NaN if unknown
 * @param recorded recorded spans per second
 * @param growing whether the backlog rises and exceeds the arrivals in twice the time since the
 *     last check: up to two windows are usual, and a backlog that is worked off falls
 */
public record QueueLag(long messages, double spans, double recorded, boolean growing) {
  static final QueueLag UNKNOWN = new QueueLag(-1, Double.NaN, Double.NaN, false);
}
