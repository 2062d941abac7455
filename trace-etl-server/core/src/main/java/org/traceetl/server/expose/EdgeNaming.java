package org.traceetl.server.expose;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.traceetl.server.config.EdgesConfig;
import org.traceetl.server.config.HistogramConfig;
import org.traceetl.server.config.MetricsConfig;
import org.traceetl.server.config.MetricsConfig.Unit;
import org.traceetl.server.edge.EdgeMeasure;
import org.traceetl.server.window.Form;
import org.traceetl.server.window.QueueId;
import org.traceetl.server.window.SeriesDefinition;

/**
 * The families of the service graph's edges: requests, failures, durations, spans without an edge.
 * Names, labels and the unit are those of Tempo and the Collector, which Grafana's node graph
 * reads.
 *
 * <p>Each {@link EdgeMeasure} is in one family. The measures of an edge have the same labels: both
 * ends, the connection type, the configured dimensions of both ends, and the queue, because each
 * queue counts its own part of an edge. Spans that a change of the list of queues separated from
 * their other end have the {@code reason}. A label without a value is absent.
 */
public final class EdgeNaming implements Naming {
  private static final String PREFIX = "traces_service_graph_";
  private static final String BY_LABELS = ", by client, server and connection type.";
  private static final String CLIENT = "client";
  private static final String SERVER = "server";
  private static final String CONNECTION_TYPE = "connection_type";

  /** Why a span is unpaired; absent if no span of its other end came. */
  private static final String REASON = "reason";

  private static final String MOVED = "moved";

  /** Position of the connection type among the values of a series. */
  private static final int TYPE = SeriesDefinition.FIXED_DIMENSIONS;

  /**
   * Positions in a section of histograms. An edge has several measures and thus several positions,
   * so a section has about as many histograms as one of spans.
   */
  private static final int SECTION_SERIES = 4 * SpanNaming.SECTION_SERIES;

  private final boolean hasUtf8Names;
  private final int stride;
  private final List<Family> families;

  /** Of the values after the connection type: those of clients, then those of servers. */
  private final List<String> dimensions;

  private final Map<EdgeMeasure, Family> byMeasure = new EnumMap<>(EdgeMeasure.class);

  /**
   * @param histogram buckets of the windows, whose native ones must be in seconds
   * @param hasUtf8Names {@link Naming#hasUtf8Names} of the span families on the same page: both
   *     need the same formats
   * @param dimensions attributes of {@link EdgesConfig#dimensions}
   */
  public EdgeNaming(HistogramConfig histogram, boolean hasUtf8Names, List<String> dimensions) {
    this.dimensions =
        Stream.of(EdgesConfig.CLIENT_PREFIX, EdgesConfig.SERVER_PREFIX)
            .flatMap(
                prefix -> dimensions.stream().map(key -> prefix + MetricsConfig.underscored(key)))
            .toList();
    this.hasUtf8Names = hasUtf8Names;
    long[] bounds = histogram.boundsNanos();
    stride = bounds.length + 1;
    Form form =
        new Form(
            bounds, histogram.hasNative() ? histogram.nativeSchema() : null, Unit.SECONDS.nanos());
    List<Family> all = new ArrayList<>();
    counter(all, "request", "Requests", EdgeMeasure.REQUESTS);
    counter(all, "request_failed", "Requests of which an end failed", EdgeMeasure.FAILED);
    histogram(all, form, EdgeMeasure.SERVER, "server", "Duration of requests at the server");
    histogram(all, form, EdgeMeasure.CLIENT, "client", "Duration of requests at the client");
    histogram(
        all,
        form,
        EdgeMeasure.MESSAGING,
        "messaging_system",
        "Time of messages between producer and consumer");
    histogram(
        all,
        form,
        EdgeMeasure.LATENCY,
        "latency",
        "Duration of requests at the client less that at the server");
    counter(
        all,
        "unpaired_spans",
        "Spans whose other end did not come in time",
        EdgeMeasure.UNPAIRED_CLIENT,
        EdgeMeasure.UNPAIRED_SERVER,
        EdgeMeasure.MOVED_CLIENT,
        EdgeMeasure.MOVED_SERVER);
    counter(
        all,
        "dropped_spans",
        "Spans for which there was no room to wait for their other end",
        EdgeMeasure.DROPPED_CLIENT,
        EdgeMeasure.DROPPED_SERVER);
    families = List.copyOf(all);
  }

  private void counter(List<Family> all, String name, String help, EdgeMeasure... measures) {
    add(all, Family.counter(all.size(), PREFIX + name, help + BY_LABELS), measures);
  }

  private void histogram(
      List<Family> all, Form form, EdgeMeasure measure, String name, String help) {
    Family family =
        Family.histogram(
            all.size(),
            PREFIX + "request_" + name + "_seconds",
            help + " in seconds" + BY_LABELS,
            "seconds",
            SECTION_SERIES,
            form);
    add(all, family, measure);
  }

  private void add(List<Family> all, Family family, EdgeMeasure... measures) {
    all.add(family);
    for (EdgeMeasure measure : measures) {
      byMeasure.put(measure, family);
    }
  }

  @Override
  public int stride() {
    return stride;
  }

  /** Returns whether the span families have them; no label of an edge has. */
  @Override
  public boolean hasUtf8Names() {
    return hasUtf8Names;
  }

  @Override
  public List<Family> families() {
    return families;
  }

  @Override
  public Family received() {
    return null;
  }

  /** Returns the family of the measure; none for one that a later release may have written. */
  @Override
  public long families(SeriesDefinition definition) {
    EdgeMeasure measure = measure(definition);
    return measure == null ? 0 : byMeasure.get(measure).bit();
  }

  /**
   * {@inheritDoc}
   *
   * <p>Without a queue, a series without ends has no labels.
   */
  @Override
  public byte[] labels(SeriesDefinition definition, String queue) {
    List<String> values = definition.values();
    String application = values.get(SeriesDefinition.APPLICATION);
    String peer = values.get(SeriesDefinition.SPAN_NAME);
    EdgeMeasure measure = measure(definition);
    boolean isServer = measure != null && measure.isOfServer();
    // The order is the same for all: pages compare labels by their bytes.
    var out = new StringBuilder(128);
    append(out, CLIENT, isServer ? peer : application);
    append(out, SERVER, isServer ? application : peer);
    append(out, CONNECTION_TYPE, valueAt(TYPE, values));
    for (int i = 0; i < dimensions.size(); i++) {
      append(out, dimensions.get(i), valueAt(TYPE + 1 + i, values));
    }
    boolean isMoved = measure == EdgeMeasure.MOVED_CLIENT || measure == EdgeMeasure.MOVED_SERVER;
    append(out, REASON, isMoved ? MOVED : null);
    append(out, MetricsConfig.OVERFLOW_LABEL, definition.overflow() ? "true" : null);
    append(out, MetricsConfig.QUEUE_LABEL, queue);
    return Naming.bytes(out.toString());
  }

  private static String valueAt(int position, List<String> values) {
    return position < values.size() ? values.get(position) : null;
  }

  private static EdgeMeasure measure(SeriesDefinition definition) {
    String kind = definition.values().get(SeriesDefinition.SPAN_KIND);
    return kind == null ? null : EdgeMeasure.of(Integer.parseInt(kind));
  }

  /** Appends a label unless its value is null or empty, which Prometheus treats as absent. */
  private static void append(StringBuilder out, String label, String value) {
    if (value != null && !value.isEmpty()) {
      LabelText.append(out, label, value);
    }
  }

  @Override
  public byte[] labels(String application, String queue) {
    throw new UnsupportedOperationException("no family has them");
  }

  /** Returns the queue, which all series have as a label. */
  @Override
  public String queueLabel(QueueId queue, boolean overflow) {
    return queue.toString();
  }
}
