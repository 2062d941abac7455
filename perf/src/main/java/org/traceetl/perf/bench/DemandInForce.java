package org.traceetl.perf.bench;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.time.Duration;
import java.util.List;
import org.traceetl.testkit.PageSample;

/** The decisions that an agent has received from servers, as the agent's page shows them. */
final class DemandInForce {
  static final String VERSION = "trace_etl_agent_demand_version";

  /** Whether the demand in force permits bundles. */
  static final String BUNDLES = "trace_etl_agent_bundles_permitted";

  /** The epoch of the queues for half-edges. */
  private static final String EDGE_QUEUES = "trace_etl_agent_edge_queues_epoch";

  /** Servers decide every 30 s, and agents read their topic every 10 s. */
  private static final Duration LIMIT = Duration.ofMinutes(2);

  private static final Duration LOOK = Duration.ofMillis(500);

  private DemandInForce() {}

  /**
   * Waits until the agent has a demand in force.
   *
   * @param metrics the agent's page
   * @param logs where the reason may be found, for the message
   * @throws IOException if it has none within two minutes
   */
  static void await(HttpClient http, URI metrics, String logs)
      throws IOException, InterruptedException {
    await(http, metrics, logs, LIMIT);
  }

  /** Waits until the agent may send bundles, as {@link #await}. */
  static void awaitBundles(HttpClient http, URI metrics, String logs)
      throws IOException, InterruptedException {
    await(http, metrics, BUNDLES, "the agent may not send bundles", logs, LIMIT);
  }

  /** Waits until the agent may send half-edges, as {@link #await}. */
  static void awaitEdges(HttpClient http, URI metrics, String logs)
      throws IOException, InterruptedException {
    await(http, metrics, EDGE_QUEUES, "the agent has no queues for half-edges", logs, LIMIT);
  }

  static void await(HttpClient http, URI metrics, String logs, Duration limit)
      throws IOException, InterruptedException {
    await(http, metrics, VERSION, "the agent has no demand in force", logs, limit);
  }

  private static void await(
      HttpClient http, URI metrics, String gauge, String otherwise, String logs, Duration limit)
      throws IOException, InterruptedException {
    long startNanos = System.nanoTime();
    while (value(http, metrics, gauge) == 0) {
      if (System.nanoTime() - startNanos >= limit.toNanos()) {
        throw new IOException(
            ("%s after %d s: %s of %s is 0. A server publishes the demand in topic trace-routing;"
                    + " see %s")
                .formatted(otherwise, limit.toSeconds(), gauge, metrics, logs));
      }
      Thread.sleep(LOOK);
    }
  }

  private static double value(HttpClient http, URI metrics, String gauge)
      throws IOException, InterruptedException {
    List<PageSample> page = PageSample.of(http, metrics);
    return page.stream()
        .filter(sample -> sample.name().equals(gauge))
        .mapToDouble(PageSample::value)
        .findFirst()
        .orElseThrow(
            () -> new IOException(metrics + " has no " + gauge + ": this agent has no such gauge"));
  }
}
