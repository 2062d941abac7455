package org.traceetl.perf.systest.chaos;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/**
 * Compares the edges found with the requests sent.
 *
 * @param lost requests missing, over all edges
 * @param doubled requests too many, over all edges; if only the failed ones of an edge are wrong,
 *     these
 * @param requests that were sent
 * @param differences a line for each edge that differs
 */
record EdgeVerdict(long lost, long doubled, long requests, List<String> differences) {
  static EdgeVerdict of(Map<Calls.Edge, Calls.Count> expected, Map<Calls.Edge, Calls.Count> found) {
    List<String> differences = new ArrayList<>();
    Set<Calls.Edge> all = new TreeSet<>(expected.keySet());
    all.addAll(found.keySet());
    long lost = 0;
    long doubled = 0;
    long requests = 0;
    for (Calls.Edge edge : all) {
      Calls.Count sent = expected.getOrDefault(edge, new Calls.Count(0, 0));
      Calls.Count counted = found.getOrDefault(edge, new Calls.Count(0, 0));
      requests += sent.requests();
      long more = counted.requests() - sent.requests();
      long moreFailed = counted.failed() - sent.failed();
      if (more == 0 && moreFailed == 0) {
        continue;
      }
      long difference = more == 0 ? moreFailed : more;
      lost += Math.max(0, -difference);
      doubled += Math.max(0, difference);
      differences.add(
          String.format(
              Locale.ROOT,
              "edge %s: sent %d, requests %+d, failed %+d",
              edge,
              sent.requests(),
              more,
              moreFailed));
    }
    return new EdgeVerdict(lost, doubled, requests, List.copyOf(differences));
  }

  boolean isExact() {
    return lost == 0 && doubled == 0;
  }

  String line() {
    return "edges_lost=" + lost + " edges_doubled=" + doubled + " requests=" + requests;
  }
}
