package org.traceetl.server.telemetry;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.prometheus.client.Collector;
import io.prometheus.client.Collector.MetricFamilySamples;
import io.prometheus.client.Collector.MetricFamilySamples.Sample;
import java.math.BigDecimal;
import java.util.List;

/**
 * Writes the families of a registry as the end of a page of OpenMetrics 2.0. The library that the
 * registry belongs to knows version 1.0 only.
 */
final class OpenMetrics2Families {
  private final StringBuilder out = new StringBuilder(1 << 15);

  /** Writes all families and {@code # EOF}. */
  byte[] write(List<MetricFamilySamples> families) {
    for (MetricFamilySamples family : families) {
      String name = FamilyMetrics.name(family);
      comment("HELP", name, escaped(family.help));
      comment("TYPE", name, type(family));
      if (!family.unit.isEmpty()) {
        comment("UNIT", name, family.unit);
      }
      for (List<Sample> metric : FamilyMetrics.of(family)) {
        writeMetric(name, family, metric);
      }
    }
    return out.append("# EOF\n").toString().getBytes(UTF_8);
  }

  private void comment(String kind, String name, String text) {
    out.append("# ").append(kind).append(' ').append(name).append(' ').append(text).append('\n');
  }

  private static String type(MetricFamilySamples family) {
    return switch (family.type) {
      case COUNTER -> "counter";
      case GAUGE, INFO, STATE_SET -> "gauge";
      case SUMMARY -> "summary";
      case HISTOGRAM -> "histogram";
      case UNKNOWN, GAUGE_HISTOGRAM -> "unknown";
    };
  }

  private void writeMetric(String name, MetricFamilySamples family, List<Sample> samples) {
    out.append(name);
    writeLabels(family, samples.getFirst());
    out.append(' ');
    switch (family.type) {
      case SUMMARY -> writeComposite(family, samples, FamilyMetrics.QUANTILE, "quantile");
      case HISTOGRAM -> writeComposite(family, samples, FamilyMetrics.LE, "bucket");
      default -> out.append(number(samples.getFirst().value));
    }
    for (Sample sample : samples) {
      if (sample.name.endsWith(FamilyMetrics.CREATED)) {
        out.append(" st@").append(BigDecimal.valueOf(sample.value).toPlainString());
      }
    }
    out.append('\n');
  }

  private void writeLabels(MetricFamilySamples family, Sample sample) {
    String separator = "{";
    for (int i = 0; i < sample.labelNames.size(); i++) {
      if (!FamilyMetrics.isPart(family, sample.labelNames.get(i))) {
        out.append(separator).append(sample.labelNames.get(i)).append("=\"");
        out.append(escaped(sample.labelValues.get(i))).append('"');
        separator = ",";
      }
    }
    if (separator.equals(",")) {
      out.append('}');
    }
  }

  /** Writes count, sum, and the samples with a label as pairs of its value and theirs. */
  private void writeComposite(
      MetricFamilySamples family, List<Sample> samples, String label, String field) {
    out.append("{count:").append((long) value(samples, family.name + "_count"));
    out.append(",sum:").append(number(value(samples, family.name + "_sum")));
    String separator = "," + field + ":[";
    for (Sample sample : samples) {
      int at = sample.labelNames.indexOf(label);
      if (at >= 0) {
        out.append(separator).append(sample.labelValues.get(at)).append(':');
        out.append(
            label.equals(FamilyMetrics.LE) ? "" + (long) sample.value : number(sample.value));
        separator = ",";
      }
    }
    out.append(separator.equals(",") ? "]}" : separator + "]}");
  }

  private static double value(List<Sample> samples, String name) {
    for (Sample sample : samples) {
      if (sample.name.equals(name)) {
        return sample.value;
      }
    }
    return 0;
  }

  private static String number(double value) {
    return Collector.doubleToGoString(value);
  }

  private static String escaped(String text) {
    return text.replace("\\", "\\\\").replace("\n", "\\n").replace("\"", "\\\"");
  }
}
