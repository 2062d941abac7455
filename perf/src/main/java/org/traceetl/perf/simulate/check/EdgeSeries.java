package org.traceetl.perf.simulate.check;

import java.util.Comparator;
import java.util.Map;
import org.traceetl.server.config.EdgesConfig;
import org.traceetl.server.config.MetricsConfig;
import org.traceetl.testkit.PageSample;

/**
 * A measure of an edge, summed over the queues.
 *
 * @param client empty if it is unknown
 * @param server empty if it is unknown
 * @param clientValues {@link HalfEdge#values} of the client
 * @param serverValues {@link HalfEdge#values} of the server
 * @param type connection type; empty for a call; {@link #MOVED} of unpaired spans with this reason
 */
record EdgeSeries(
    Measure measure,
    String client,
    String clientValues,
    String server,
    String serverValues,
    String type)
    implements Comparable<EdgeSeries> {
  static final String CALL = "";
  static final String MESSAGE = "messaging_system";
  static final String DATABASE = "database";
  static final String VIRTUAL = "virtual_node";
  static final String MOVED = "moved";

  private static final String PREFIX = "traces_service_graph_";

  private static final Comparator<EdgeSeries> ORDER =
      Comparator.comparing(EdgeSeries::measure)
          .thenComparing(EdgeSeries::client)
          .thenComparing(EdgeSeries::server)
          .thenComparing(EdgeSeries::type)
          .thenComparing(EdgeSeries::clientValues)
          .thenComparing(EdgeSeries::serverValues);

  /** What a series counts. */
  enum Measure {
    REQUESTS("request_total"),
    FAILED("request_failed_total"),
    UNPAIRED("unpaired_spans_total"),
    SERVER("request_server_seconds"),
    CLIENT("request_client_seconds"),
    LATENCY("request_latency_seconds"),
    MESSAGING("request_messaging_system_seconds"),

    /** Of a server: its half-edges with a parent that are known to be paired or unpaired. */
    CALLEES(null),

    /** Of a client: its half-edges whose calls are known to be paired or not. */
    CALLERS(null);

    /** Null if no page has it. */
    private final String name;

    Measure(String name) {
      this.name = name == null ? null : PREFIX + name;
    }

    boolean isHistogram() {
      return name != null && name.endsWith("_seconds");
    }

    /** Returns the measure of a sample; null for any other metric. */
    static Measure of(String metric) {
      if (!metric.startsWith(PREFIX)) {
        return null;
      }
      for (Measure measure : values()) {
        boolean has =
            measure.name != null
                && (measure.isHistogram()
                    ? metric.startsWith(measure.name + "_")
                    : metric.equals(measure.name));
        if (has) {
          return measure;
        }
      }
      return null;
    }
  }

  /** Returns the series of a sample; an overflow series has a type of its own. */
  static EdgeSeries of(Measure measure, PageSample sample) {
    Map<String, String> labels = sample.labels();
    return new EdgeSeries(
        measure,
        labels.getOrDefault("client", ""),
        values(EdgesConfig.CLIENT_PREFIX, labels),
        labels.getOrDefault("server", ""),
        values(EdgesConfig.SERVER_PREFIX, labels),
        labels.containsKey("otel_metric_overflow")
            ? "overflow"
            : labels.getOrDefault("reason", labels.getOrDefault("connection_type", CALL)));
  }

  private static String values(String prefix, Map<String, String> labels) {
    return HalfEdge.values(
        HalfEdge.DIMENSIONS.stream()
            .map(key -> labels.getOrDefault(prefix + MetricsConfig.underscored(key), ""))
            .toArray(String[]::new));
  }

  /**
   * Returns the requests of an edge.
   *
   * @param caller null without a span; then the client is {@link EdgeTruth#USER}
   * @param callee null without a span
   * @param server name of the server if it has no span
   */
  static EdgeSeries requests(HalfEdge caller, HalfEdge callee, String server, String type) {
    return new EdgeSeries(
        Measure.REQUESTS,
        caller == null ? EdgeTruth.USER : caller.application(),
        caller == null ? "" : caller.values(),
        callee == null ? server : callee.application(),
        callee == null ? "" : callee.values(),
        type);
  }

  /** Returns what counts the unpaired spans of an end. */
  static EdgeSeries unpaired(HalfEdge half, String type) {
    String application = half.application();
    return half.isCaller()
        ? new EdgeSeries(Measure.UNPAIRED, application, half.values(), "", "", type)
        : new EdgeSeries(Measure.UNPAIRED, "", "", application, half.values(), type);
  }

  /** Returns another measure of the edge. */
  EdgeSeries of(Measure other) {
    return new EdgeSeries(other, client, clientValues, server, serverValues, type);
  }

  /** Returns the ends of an edge without the values of their dimensions. */
  static EdgeSeries ofEnds(Measure measure, String client, String server) {
    return new EdgeSeries(measure, client, "", server, "", CALL);
  }

  @Override
  public int compareTo(EdgeSeries other) {
    return ORDER.compare(this, other);
  }

  @Override
  public String toString() {
    return measure
        + " of "
        + (client.isEmpty() ? "?" : client)
        + (clientValues.isEmpty() ? "" : "[" + clientValues + "]")
        + " to "
        + (server.isEmpty() ? "?" : server)
        + (serverValues.isEmpty() ? "" : "[" + serverValues + "]")
        + (type.isEmpty() ? "" : " (" + type + ")");
  }
}
