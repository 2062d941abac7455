package org.traceetl.perf.systest.chaos;

import java.util.List;
import java.util.Map;
import org.traceetl.testkit.Program;

/**
 * What the programs said at one time.
 *
 * @param askedNanos when the questions were asked, by {@link System#nanoTime}
 * @param complete whether each server and each agent answered
 * @param queues names of the queues by server, of servers that answer
 * @param lag messages that are not read yet
 * @param calls spans on the servers' pages
 * @param agents whether each agent says that it can work
 * @param spooled batches in the agents' spools
 * @param unread bytes of trace logs that are in no spool yet
 */
record Observation(
    long askedNanos,
    boolean complete,
    Map<String, List<String>> queues,
    double lag,
    double calls,
    List<Boolean> agents,
    double spooled,
    double unread) {
  /** Whether each queue is shown by one server. */
  boolean eachQueueIsOwnedOnce() {
    List<String> all = queues.values().stream().flatMap(List::stream).toList();
    return all.size() == ChaosInstallation.QUEUES && all.stream().distinct().count() == all.size();
  }

  /** Whether all that was sent is counted, as far as the programs know. */
  boolean isDrained() {
    return complete
        && lag == 0
        && spooled == 0
        && unread == 0
        && agentsWork()
        && eachQueueIsOwnedOnce();
  }

  boolean agentsWork() {
    return agents.stream().allMatch(Boolean::booleanValue);
  }

  /** Those of a server. */
  List<String> queuesOf(Program server) {
    return queues.getOrDefault(server.name(), List.of());
  }
}
