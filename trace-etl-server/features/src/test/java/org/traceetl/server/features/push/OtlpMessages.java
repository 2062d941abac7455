package org.traceetl.server.features.push;

import com.google.protobuf.ByteString;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.Message;
import io.opentelemetry.proto.collector.metrics.v1.ExportMetricsServiceRequest;
import io.opentelemetry.proto.common.v1.KeyValue;
import io.opentelemetry.proto.metrics.v1.AggregationTemporality;
import io.opentelemetry.proto.metrics.v1.Exemplar;
import io.opentelemetry.proto.metrics.v1.ExponentialHistogram;
import io.opentelemetry.proto.metrics.v1.ExponentialHistogramDataPoint;
import io.opentelemetry.proto.metrics.v1.Histogram;
import io.opentelemetry.proto.metrics.v1.HistogramDataPoint;
import io.opentelemetry.proto.metrics.v1.Metric;
import io.opentelemetry.proto.metrics.v1.NumberDataPoint;
import io.opentelemetry.proto.metrics.v1.ResourceMetrics;
import io.opentelemetry.proto.metrics.v1.ScopeMetrics;
import io.opentelemetry.proto.metrics.v1.Sum;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.zip.GZIPInputStream;
import org.traceetl.server.features.push.WriteMessages.Series;

/** Reads requests of OTLP by the library of its messages. Refuses unknown fields. */
final class OtlpMessages {
  private static final int NO_RECORDED_VALUE = 1;
  private static final long NANOS_PER_MILLI = 1_000_000;

  private OtlpMessages() {}

  static byte[] decompress(byte[] body, int length) {
    try (var gzip = new GZIPInputStream(new ByteArrayInputStream(body, 0, length))) {
      return gzip.readAllBytes();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * Returns each point as a series with one value, in the order of the request. Labels are the
   * attributes; those of the resource begin with {@code resource.}. Refuses deltas.
   */
  static List<Series> read(byte[] message) {
    return read(message, AggregationTemporality.AGGREGATION_TEMPORALITY_CUMULATIVE);
  }

  /** Returns the same of a request whose points are all deltas. */
  static List<Series> readDeltas(byte[] message) {
    return read(message, AggregationTemporality.AGGREGATION_TEMPORALITY_DELTA);
  }

  private static List<Series> read(byte[] message, AggregationTemporality temporality) {
    ExportMetricsServiceRequest request;
    try {
      request = ExportMetricsServiceRequest.parseFrom(message);
    } catch (InvalidProtocolBufferException e) {
      throw new IllegalArgumentException(e);
    }
    refuseUnknown(request);
    List<Series> all = new ArrayList<>();
    for (ResourceMetrics resource : request.getResourceMetricsList()) {
      for (ScopeMetrics scope : resource.getScopeMetricsList()) {
        for (Metric metric : scope.getMetricsList()) {
          refuseUnless(temporality(metric) == temporality);
          read(resource, scope, metric, all);
        }
      }
    }
    return all;
  }

  private static void refuseUnknown(Message message) {
    if (!message.getUnknownFields().asMap().isEmpty()) {
      throw new IllegalArgumentException("unknown fields: " + message);
    }
    for (Object value : message.getAllFields().values()) {
      Collection<?> values = value instanceof Collection<?> many ? many : List.of(value);
      for (Object one : values) {
        if (one instanceof Message nested) {
          refuseUnknown(nested);
        }
      }
    }
  }

  private static void read(
      ResourceMetrics resource, ScopeMetrics scope, Metric metric, List<Series> all) {
    List<String> common = new ArrayList<>();
    labels("resource.", resource.getResource().getAttributesList(), common);
    common.add("__name__=" + metric.getName());
    String about =
        scope.getScope().getName() + "|" + metric.getDescription() + "|" + metric.getUnit();
    switch (metric.getDataCase()) {
      case SUM -> {
        Sum sum = metric.getSum();
        refuseUnless(sum.getIsMonotonic());
        for (NumberDataPoint point : sum.getDataPointsList()) {
          boolean stale = isStale(point.getFlags());
          refuseUnless(stale != (point.hasAsInt() || point.hasAsDouble()));
          double number = point.hasAsInt() ? point.getAsInt() : point.getAsDouble();
          String value = stale ? "stale" : Double.toString(number);
          all.add(
              point(
                  common,
                  point.getAttributesList(),
                  value,
                  point.getTimeUnixNano(),
                  point.getStartTimeUnixNano(),
                  point.getExemplarsList(),
                  about));
        }
      }
      case HISTOGRAM -> {
        Histogram histogram = metric.getHistogram();
        for (HistogramDataPoint point : histogram.getDataPointsList()) {
          refuseUnless(point.hasSum());
          String value =
              "count=%d sum=%s buckets=%s bounds=%s"
                  .formatted(
                      point.getCount(),
                      point.getSum(),
                      point.getBucketCountsList(),
                      point.getExplicitBoundsList());
          all.add(
              point(
                  common,
                  point.getAttributesList(),
                  (isStale(point.getFlags()) ? "stale " : "") + value,
                  point.getTimeUnixNano(),
                  point.getStartTimeUnixNano(),
                  point.getExemplarsList(),
                  about));
        }
      }
      case EXPONENTIAL_HISTOGRAM -> {
        ExponentialHistogram histogram = metric.getExponentialHistogram();
        for (ExponentialHistogramDataPoint point : histogram.getDataPointsList()) {
          refuseUnless(point.hasSum() && !point.hasNegative());
          String value =
              "count=%d sum=%s scale=%d zero=%d buckets=%s"
                  .formatted(
                      point.getCount(),
                      point.getSum(),
                      point.getScale(),
                      point.getZeroCount(),
                      buckets(point));
          all.add(
              point(
                  common,
                  point.getAttributesList(),
                  (isStale(point.getFlags()) ? "stale " : "") + value,
                  point.getTimeUnixNano(),
                  point.getStartTimeUnixNano(),
                  point.getExemplarsList(),
                  about));
        }
      }
      default -> throw new IllegalArgumentException("data: " + metric);
    }
  }

  /** Returns the counts above 0 by the index of OTLP. */
  private static Map<Integer, Long> buckets(ExponentialHistogramDataPoint point) {
    Map<Integer, Long> buckets = new TreeMap<>();
    List<Long> counts = point.getPositive().getBucketCountsList();
    for (int i = 0; i < counts.size(); i++) {
      if (counts.get(i) != 0) {
        buckets.put(point.getPositive().getOffset() + i, counts.get(i));
      }
    }
    return buckets;
  }

  private static boolean isStale(int flags) {
    refuseUnless((flags & ~NO_RECORDED_VALUE) == 0);
    return flags == NO_RECORDED_VALUE;
  }

  private static AggregationTemporality temporality(Metric metric) {
    return switch (metric.getDataCase()) {
      case SUM -> metric.getSum().getAggregationTemporality();
      case HISTOGRAM -> metric.getHistogram().getAggregationTemporality();
      case EXPONENTIAL_HISTOGRAM -> metric.getExponentialHistogram().getAggregationTemporality();
      default -> AggregationTemporality.AGGREGATION_TEMPORALITY_UNSPECIFIED;
    };
  }

  private static void refuseUnless(boolean holds) {
    if (!holds) {
      throw new IllegalArgumentException("not a request as it should be");
    }
  }

  private static Series point(
      List<String> common,
      List<KeyValue> attributes,
      String value,
      long atNanos,
      long startNanos,
      List<Exemplar> exemplars,
      String about) {
    List<String> labels = new ArrayList<>(common);
    labels("", attributes, labels);
    String start = startNanos == 0 ? "" : ">" + startNanos / NANOS_PER_MILLI;
    return new Series(
        labels,
        List.of(value + "@" + atNanos / NANOS_PER_MILLI + start),
        List.of(),
        exemplars.stream()
            .map(one ->
                hex(one.getTraceId())
                    + " "
                    + hex(one.getSpanId())
                    + " "
                    + one.getAsDouble()
                    + "@"
                    + Long.divideUnsigned(one.getTimeUnixNano(), NANOS_PER_MILLI))
            .toList(),
        about);
  }

  private static String hex(ByteString bytes) {
    return HexFormat.of().formatHex(bytes.toByteArray());
  }

  private static void labels(String prefix, List<KeyValue> attributes, List<String> to) {
    for (KeyValue attribute : attributes) {
      refuseUnless(attribute.getValue().hasStringValue());
      to.add(prefix + attribute.getKey() + "=" + attribute.getValue().getStringValue());
    }
  }
}
