package org.traceetl.server.queues;

import java.util.List;
import java.util.Set;
import org.traceetl.server.window.QueueId;

/**
 * What this server knows of the fleet's queues, in addition to the journal, now and at the last
 * look at the brokers.
 *
 * @param own queues that it reads
 * @param seen state of all queues at the brokers
 * @param growing queues whose servers do not keep up
 * @param maxSeries maximum number of series of this server
 */
public record KnownQueues(
    List<QueueStatus> own, QueueWatch.Seen seen, Set<QueueId> growing, long maxSeries) {}
