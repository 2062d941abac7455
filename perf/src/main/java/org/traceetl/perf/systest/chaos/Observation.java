package org.traceetl.perf.systest.chaos;

import java.util.List;
import java.util.Map;
import org.traceetl.testkit.Program;

/**
 * The state of the programs at one time.
 *
 * @param askedNanos when the requests were sent, by {@link System#nanoTime}
 * @param complete whether each server and each agent answered
 * @param queues names of the queues of each server that answers
 * @param lag messages that are not read yet
 * @param calls spans on the servers' pages
 * @param agents whether each agent reports that it is ready
 * @param spools batches in the spool of each agent
 * @param unread bytes of trace logs that are in no spool yet
 * @param rulesRevision lowest revision of the rules in force on a server that answers; 0 while
 *     dimensions wait on one
 * @param hasRegion whether a series has the dimension that rules add
 */
record Observation(
    long askedNanos,
    boolean complete,
    Map<String, List<String>> queues,
    double lag,
    double calls,
    List<Boolean> agents,
    List<Double> spools,
    double unread,
    double rulesRevision,
    boolean hasRegion) {
  /** Returns whether each queue is shown by exactly one server. */
  boolean eachQueueIsOwnedOnce() {
    List<String> all = queues.values().stream().flatMap(List::stream).toList();
    return all.size() == ChaosInstallation.QUEUES && all.stream().distinct().count() == all.size();
  }

  /** Returns whether the programs report that everything sent is counted. */
  boolean isDrained() {
    return complete
        && lag == 0
        && spooled() == 0
        && unread == 0
        && agentsWork()
        && eachQueueIsOwnedOnce();
  }

  /** Returns the batches in the agents' spools. */
  double spooled() {
    return spools.stream().mapToDouble(Double::doubleValue).sum();
  }

  boolean agentsWork() {
    return agents.stream().allMatch(Boolean::booleanValue);
  }

  List<String> queuesOf(Program server) {
    return queues.getOrDefault(server.name(), List.of());
  }
}
