package org.traceetl.server.telemetry;

import static org.traceetl.server.protobuf.MetricProto.label;

import io.prometheus.client.Collector.MetricFamilySamples;
import io.prometheus.client.Collector.MetricFamilySamples.Sample;
import java.util.List;
import org.traceetl.server.protobuf.MessageBuffer;
import org.traceetl.server.protobuf.MetricProto;

/**
 * Writes the families of a registry as delimited messages. The registry's samples are those of the
 * text formats: samples whose labels differ only in {@code le} and {@code quantile} form one
 * metric.
 */
final class ProtobufFamilies {
  private static final double MILLIS_PER_SECOND = 1e3;

  private final MessageBuffer out = new MessageBuffer();

  /** Writes all families, each after its length. */
  byte[] write(List<MetricFamilySamples> families) {
    out.clear();
    for (MetricFamilySamples family : families.reversed()) {
      int before = out.size();
      int type = type(family);
      for (List<Sample> metric : FamilyMetrics.of(family).reversed()) {
        writeMetric(family, type, metric);
      }
      MetricProto.family(out, FamilyMetrics.name(family), family.help, type, family.unit);
      out.length(out.size() - before);
    }
    return out.toByteArray();
  }

  private static int type(MetricFamilySamples family) {
    return switch (family.type) {
      case COUNTER -> MetricProto.COUNTER;
      case GAUGE, INFO, STATE_SET -> MetricProto.GAUGE;
      case SUMMARY -> MetricProto.SUMMARY;
      case HISTOGRAM -> MetricProto.HISTOGRAM;
      case UNKNOWN, GAUGE_HISTOGRAM -> MetricProto.UNTYPED;
    };
  }

  private void writeMetric(MetricFamilySamples family, int type, List<Sample> samples) {
    int before = out.size();
    switch (type) {
      case MetricProto.COUNTER -> {
        writeCreated(samples, MetricProto.COUNTER_CREATED);
        out.decimal(MetricProto.VALUE, samples.getFirst().value);
        out.enclose(MetricProto.METRIC_COUNTER, before);
      }
      case MetricProto.GAUGE -> writeValue(samples, MetricProto.METRIC_GAUGE);
      case MetricProto.UNTYPED -> writeValue(samples, MetricProto.METRIC_UNTYPED);
      case MetricProto.SUMMARY -> {
        writeCreated(samples, MetricProto.SUMMARY_CREATED);
        for (Sample sample : samples.reversed()) {
          writePart(sample, FamilyMetrics.QUANTILE);
        }
        writeSumAndCount(family, samples);
        out.enclose(MetricProto.METRIC_SUMMARY, before);
      }
      default -> {
        writeCreated(samples, MetricProto.HISTOGRAM_CREATED);
        for (Sample sample : samples.reversed()) {
          writePart(sample, FamilyMetrics.LE);
        }
        writeSumAndCount(family, samples);
        out.enclose(MetricProto.METRIC_HISTOGRAM, before);
      }
    }
    Sample first = samples.getFirst();
    for (int i = first.labelNames.size() - 1; i >= 0; i--) {
      if (!FamilyMetrics.isPart(family, first.labelNames.get(i))) {
        label(out, MetricProto.METRIC_LABEL, first.labelNames.get(i), first.labelValues.get(i));
      }
    }
    out.enclose(MetricProto.FAMILY_METRIC, before);
  }

  private void writeValue(List<Sample> samples, int field) {
    int before = out.size();
    out.decimal(MetricProto.VALUE, samples.getFirst().value);
    out.enclose(field, before);
  }

  private void writeCreated(List<Sample> samples, int field) {
    for (Sample sample : samples) {
      if (sample.name.endsWith(FamilyMetrics.CREATED)) {
        out.timestamp(field, Math.round(sample.value * MILLIS_PER_SECOND));
      }
    }
  }

  /** Writes the sample if it is a bucket or a quantile. */
  private void writePart(Sample sample, String name) {
    int at = sample.labelNames.indexOf(name);
    if (at < 0) {
      return;
    }
    int before = out.size();
    String value = sample.labelValues.get(at);
    if (name.equals(FamilyMetrics.LE)) {
      out.decimal(MetricProto.BUCKET_BOUND, number(value));
      out.integer(MetricProto.BUCKET_COUNT, (long) sample.value);
      out.enclose(MetricProto.HISTOGRAM_BUCKET, before);
    } else {
      out.decimal(MetricProto.QUANTILE_VALUE, sample.value);
      out.decimal(MetricProto.QUANTILE, number(value));
      out.enclose(MetricProto.SUMMARY_QUANTILE, before);
    }
  }

  private void writeSumAndCount(MetricFamilySamples family, List<Sample> samples) {
    for (Sample sample : samples) {
      if (sample.name.equals(family.name + "_sum")) {
        out.decimal(MetricProto.SAMPLE_SUM, sample.value);
      }
    }
    for (Sample sample : samples) {
      if (sample.name.equals(family.name + "_count")) {
        out.integer(MetricProto.SAMPLE_COUNT, (long) sample.value);
      }
    }
  }

  private static double number(String text) {
    return text.equals("+Inf") ? Double.POSITIVE_INFINITY : Double.parseDouble(text);
  }
}
