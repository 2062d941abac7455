package org.traceetl.server.features.hotspot;

/**
 * How far the fleet is behind with a queue.
 *
 * @param messages that have arrived and are in no window known here; those of the open window and
 *     of one on its way are among them. -1 for not known
 * @param spans in them, about; NaN for not known
 * @param recorded spans a second that were taken in
 * @param growing whether it is more than what came in twice the time since the last look, and
 *     rises: usual is up to what comes in two windows, and a backlog that is worked off falls
 */
public record QueueLag(long messages, double spans, double recorded, boolean growing) {
  static final QueueLag UNKNOWN = new QueueLag(-1, Double.NaN, Double.NaN, false);
}
