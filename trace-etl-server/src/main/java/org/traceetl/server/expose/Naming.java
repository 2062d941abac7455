package org.traceetl.server.expose;

import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.traceetl.server.config.HistogramConfig;
import org.traceetl.server.config.MetricsConfig;
import org.traceetl.server.config.MetricsConfig.Profile;
import org.traceetl.server.config.MetricsConfig.QueueLabel;
import org.traceetl.server.config.MetricsConfig.Unit;
import org.traceetl.server.config.SeriesConfig;
import org.traceetl.server.config.ServerConfig;
import org.traceetl.server.protobuf.MessageBuffer;
import org.traceetl.server.protobuf.MetricProto;
import org.traceetl.server.series.SeriesTable;
import org.traceetl.server.window.NativeBuckets;
import org.traceetl.server.window.QueueId;
import org.traceetl.server.window.SeriesDefinition;

/** Names of the families and their labels under one profile, as the bytes that stand on a page. */
public final class Naming {
  private static final String CALLS_HELP = "Spans, by service, name, kind and status.";
  private static final String EVENTS_HELP =
      "Events of spans, by the span's service, name, kind and status and the event's name.";

  private static final int UNIT_MILLI_DIGITS = 6;
  private static final int UNIT_SECOND_DIGITS = 9;

  private static final String[] KINDS = {
    "SPAN_KIND_UNSPECIFIED",
    "SPAN_KIND_INTERNAL",
    "SPAN_KIND_SERVER",
    "SPAN_KIND_CLIENT",
    "SPAN_KIND_PRODUCER",
    "SPAN_KIND_CONSUMER"
  };
  private static final String[] STATUSES = {
    "STATUS_CODE_UNSET", "STATUS_CODE_OK", "STATUS_CODE_ERROR"
  };

  /** Label of each dimension, in the order of {@link SeriesDefinition#values}. */
  private final List<String> labels;

  private final boolean seconds;
  private final boolean namesQueues;
  final byte[] callsTotal;
  final byte[] callsCreated;
  final byte[] eventsTotal;
  final byte[] eventsCreated;
  final byte[] durationBucket;
  final byte[] durationSum;
  final byte[] durationCount;
  final byte[] durationCreated;

  /** What stands between the labels and a bucket's value; the last one is +Inf. */
  final byte[][] le;

  /** The same as numbers, as protobuf has them. */
  private final double[] bounds;

  /** Null where there are classic buckets alone. */
  private final NativeBuckets nativeBuckets;

  private final boolean classic;
  private final String calls;
  private final String events;
  private final boolean countsEvents;
  private final String duration;
  private final boolean durationNamesUnit;

  /** The parts of one {@link ServerConfig}, which has settled that no label stands twice. */
  public Naming(MetricsConfig metrics, SeriesConfig series, HistogramConfig histogram) {
    seconds = metrics.unit() == Unit.SECONDS;
    namesQueues = metrics.queueLabel() == QueueLabel.ALWAYS;
    labels = new ArrayList<>(metrics.profile().labels());
    series.dimensions().forEach(dimension -> labels.add(dimension.label()));
    calls = metrics.namespace() + "_calls";
    durationNamesUnit = metrics.profile() == Profile.OTEL;
    duration =
        metrics.namespace()
            + (durationNamesUnit
                ? (seconds ? "_duration_seconds" : "_duration_milliseconds")
                : "_latency");
    callsTotal = bytes(calls + "_total{");
    callsCreated = bytes(calls + "_created{");
    events = metrics.namespace() + "_events";
    countsEvents = series.countsEvents();
    eventsTotal = bytes(events + "_total{");
    eventsCreated = bytes(events + "_created{");
    durationBucket = bytes(duration + "_bucket{");
    durationSum = bytes(duration + "_sum{");
    durationCount = bytes(duration + "_count{");
    durationCreated = bytes(duration + "_created{");
    long[] boundsNanos = histogram.boundsNanos();
    le = new byte[boundsNanos.length + 1][];
    bounds = new double[le.length];
    bounds[boundsNanos.length] = Double.POSITIVE_INFINITY;
    for (int i = 0; i < boundsNanos.length; i++) {
      String bound = bound(boundsNanos[i]);
      le[i] = bytes(",le=\"" + bound + "\"} ");
      bounds[i] = Double.parseDouble(bound);
    }
    le[boundsNanos.length] = bytes(",le=\"+Inf\"} ");
    classic = histogram.kind() != HistogramConfig.Kind.NATIVE;
    nativeBuckets =
        histogram.hasNative()
            ? new NativeBuckets(histogram.nativeSchema(), metrics.unit().nanos())
            : null;
  }

  /** Buckets of a series, the one of +Inf included. */
  int stride() {
    return le.length;
  }

  boolean seconds() {
    return seconds;
  }

  /** The upper bound of a bucket in the page's unit. */
  double bound(int bucket) {
    return bounds[bucket];
  }

  /** Whether pages of protobuf have classic buckets. */
  boolean classic() {
    return classic;
  }

  /** Which native buckets there are; null for none. */
  NativeBuckets nativeBuckets() {
    return nativeBuckets;
  }

  /** Whether pages have a family. */
  boolean has(Family family) {
    return family != Family.EVENTS || countsEvents;
  }

  /** Whether a series counts events of spans. */
  boolean isOfEvents(SeriesDefinition definition) {
    return countsEvents && definition.isOfEvents();
  }

  /**
   * What stands before a family's samples. Given without samples as well: a page never is empty.
   *
   * @param bytes of the samples
   */
  byte[] header(Family family, Format format, long bytes) {
    if (format == Format.PROTOBUF) {
      return messageHeader(family, bytes);
    }
    boolean openMetrics = format == Format.OPENMETRICS;
    return switch (family) {
      case CALLS -> counterHeader(calls, CALLS_HELP, openMetrics);
      case EVENTS -> counterHeader(events, EVENTS_HELP, openMetrics);
      case DURATION -> durationHeader(openMetrics);
    };
  }

  private byte[] messageHeader(Family family, long bytes) {
    MessageBuffer out = new MessageBuffer();
    switch (family) {
      case CALLS ->
          MetricProto.family(out, calls + "_total", CALLS_HELP, MetricProto.COUNTER, null);
      case EVENTS ->
          MetricProto.family(out, events + "_total", EVENTS_HELP, MetricProto.COUNTER, null);
      case DURATION ->
          MetricProto.family(
              out,
              duration,
              durationHelp(),
              MetricProto.HISTOGRAM,
              durationNamesUnit ? unit() : null);
    }
    out.length(out.size() + bytes);
    return out.toByteArray();
  }

  private String unit() {
    return seconds ? "seconds" : "milliseconds";
  }

  private String durationHelp() {
    return "Duration of spans in " + unit() + ".";
  }

  private static byte[] counterHeader(String name, String help, boolean openMetrics) {
    String family = openMetrics ? name : name + "_total";
    return bytes("# HELP " + family + " " + help + "\n# TYPE " + family + " counter\n");
  }

  private byte[] durationHeader(boolean openMetrics) {
    return bytes(
        "# HELP "
            + duration
            + " "
            + durationHelp()
            + "\n# TYPE "
            + duration
            + " histogram\n"
            + (openMetrics && durationNamesUnit ? "# UNIT " + duration + " " + unit() + "\n" : ""));
  }

  /**
   * The labels of a series, without braces.
   *
   * @param queue is added as a label, unless null
   */
  byte[] labels(SeriesDefinition definition, String queue) {
    StringBuilder out = new StringBuilder(128);
    String application = definition.values().get(SeriesDefinition.APPLICATION);
    // Written even if it is empty, so that what follows can begin with a comma.
    LabelText.append(out, labels.getFirst(), application == null ? "" : application);
    if (definition.overflow()) {
      LabelText.append(out, MetricsConfig.OVERFLOW_LABEL, "true");
    } else {
      for (int i = 1; i < labels.size() && i < definition.values().size(); i++) {
        String value = definition.values().get(i);
        // To Prometheus an empty label is an absent one.
        if (value != null && !value.isEmpty()) {
          LabelText.append(out, labels.get(i), shown(i, value));
        }
      }
    }
    if (queue != null) {
      LabelText.append(out, MetricsConfig.QUEUE_LABEL, queue);
    }
    return bytes(out.toString());
  }

  /**
   * The queue that a series is named after from the start, as other queues may have one like it;
   * null for none.
   */
  String queueLabel(SeriesDefinition definition, QueueId queue) {
    return namesQueues || definition.overflow() ? queue.toString() : null;
  }

  private String shown(int dimension, String value) {
    return switch (dimension) {
      case SeriesDefinition.SPAN_KIND -> named(KINDS, kindOfSpan(Integer.parseInt(value)));
      case SeriesDefinition.STATUS_CODE -> named(STATUSES, Integer.parseInt(value));
      default -> value;
    };
  }

  private int kindOfSpan(int kind) {
    return countsEvents && kind >= SeriesTable.OF_EVENTS ? kind - SeriesTable.OF_EVENTS : kind;
  }

  private static String named(String[] names, int number) {
    return number >= 0 && number < names.length ? names[number] : names[0];
  }

  /**
   * With a decimal point, as OpenMetrics wants it, in all formats: so that le is the same label.
   */
  private String bound(long nanos) {
    BigDecimal value =
        BigDecimal.valueOf(nanos, seconds ? UNIT_SECOND_DIGITS : UNIT_MILLI_DIGITS)
            .stripTrailingZeros();
    return value.setScale(Math.max(1, value.scale())).toPlainString();
  }

  static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }
}
