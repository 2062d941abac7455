package org.traceetl.perf.systest.chaos;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Compares the edges found with the requests sent. A request whose two ends were sent to different
 * queues, because a queue was added in between, is not found; then its server's end must be counted
 * as moved.
 *
 * @param lost requests missing, over all edges
 * @param doubled requests too many, over all edges, and servers' ends too many; if only the failed
 *     ones of an edge are wrong, these
 * @param moved requests that are missing because a queue was added
 * @param requests that were sent
 * @param differences a line for each edge and server that differs
 */
record EdgeVerdict(long lost, long doubled, long moved, long requests, List<String> differences) {
  private static final Calls.Count NONE = new Calls.Count(0, 0);

  /**
   * @param unpaired servers' ends without a client's that are not counted as moved, by server
   * @param movedEnds servers' ends that are counted as moved, by server
   */
  static EdgeVerdict of(
      Map<Calls.Edge, Calls.Count> expected,
      Map<Calls.Edge, Calls.Count> found,
      Map<String, Long> unpaired,
      Map<String, Long> movedEnds) {
    List<String> differences = new ArrayList<>();
    Set<Calls.Edge> all = new TreeSet<>(expected.keySet());
    all.addAll(found.keySet());
    Map<String, Long> missing = new TreeMap<>();
    long lost = 0;
    long doubled = 0;
    long requests = 0;
    for (Calls.Edge edge : all) {
      Calls.Count sent = expected.getOrDefault(edge, NONE);
      Calls.Count counted = found.getOrDefault(edge, NONE);
      requests += sent.requests();
      long more = counted.requests() - sent.requests();
      long moreFailed = counted.failed() - sent.failed();
      if (more == 0 && moreFailed == 0) {
        continue;
      }
      if (more < 0) {
        missing.merge(edge.server(), -more, Long::sum);
      }
      // Of the missing requests, any number failed.
      lost += Math.max(0, Math.min(0, more) - moreFailed);
      doubled += more > 0 ? more : Math.max(0, moreFailed);
      differences.add(
          String.format(
              Locale.ROOT,
              "edge %s: sent %d, requests %+d, failed %+d",
              edge,
              sent.requests(),
              more,
              moreFailed));
    }
    long moved = 0;
    Set<String> servers = new TreeSet<>(missing.keySet());
    servers.addAll(unpaired.keySet());
    servers.addAll(movedEnds.keySet());
    for (String server : servers) {
      long absent = missing.getOrDefault(server, 0L);
      long alone = unpaired.getOrDefault(server, 0L);
      long apart = movedEnds.getOrDefault(server, 0L);
      long both = Math.min(absent, apart);
      moved += both;
      lost += absent - both;
      doubled += Math.max(0, alone - (absent - both)) + apart - both;
      if (alone + apart > 0) {
        differences.add("server " + server + ": unpaired " + alone + ", moved " + apart);
      }
    }
    return new EdgeVerdict(lost, doubled, moved, requests, List.copyOf(differences));
  }

  boolean isExact() {
    return lost == 0 && doubled == 0;
  }

  String line() {
    return "edges_lost="
        + lost
        + " edges_doubled="
        + doubled
        + " edges_moved="
        + moved
        + " requests="
        + requests;
  }
}
