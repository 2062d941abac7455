package org.traceetl.server.queues;

import java.util.List;
import java.util.Set;
import org.traceetl.server.window.QueueId;

/**
 * What this server knows of the fleet's queues, besides what the journal says. As of now, and of
 * the last looks at the brokers.
 *
 * @param own those that it reads
 * @param seen what the brokers said of all
 * @param growing those whose servers do not keep up with them
 * @param maxSeries most series that this server may have
 */
public record KnownQueues(
    List<QueueStatus> own, QueueWatch.Seen seen, Set<QueueId> growing, long maxSeries) {}
