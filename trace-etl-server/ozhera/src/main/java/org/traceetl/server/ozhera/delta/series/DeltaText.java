package org.traceetl.server.ozhera.delta.series;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToLongFunction;
import org.traceetl.server.expose.LabelText;
import org.traceetl.server.expose.LineBuffer;
import org.traceetl.server.ozhera.SpanType;
import org.traceetl.server.ozhera.TypeMetrics;
import org.traceetl.server.ozhera.delta.series.AnswerSums.Sums;
import org.traceetl.server.ozhera.delta.series.LabelSet.Role;

/**
 * Writes pages as Prometheus text 0.0.4 with OzHera's names. A counter without new counts is left
 * out. Immutable.
 */
public final class DeltaText {
  private static final int MILLI_DIGITS = 6;
  private static final byte[] LABELS_END = bytes("} ");

  /** Maximum length of a bound with the text around it. */
  private static final int MAX_LE_BYTES = 24;

  private final Map<SpanType, Families> families = new EnumMap<>(SpanType.class);
  private final Counter received;

  /**
   * @param env prefix of all names
   * @param since the period of the values: a sentence that ends each HELP text
   */
  public DeltaText(String env, String since) {
    for (SpanType type : SpanType.values()) {
      families.put(type, new Families(env + "_hera_", type, since));
    }
    received = new Counter(env + "_trace_statistics_span_count", "Spans received. " + since);
  }

  /** The names for a type of spans. */
  private static final class Families {
    final Counter total;
    final Counter success;

    /** Null for none. */
    final Counter slow;

    final Counter error;
    final Role errorRole;
    final Durations durations;

    /** Null for none. */
    final Durations unnamed;

    Families(String prefix, SpanType type, String since) {
      TypeMetrics metrics = TypeMetrics.of(type);
      String what = "Spans of type " + type.documentType();
      total = new Counter(prefix + metrics.total(), what + ". " + since);
      success = new Counter(prefix + metrics.success(), what + " that did not fail. " + since);
      slow =
          metrics.slow() == null
              ? null
              : new Counter(
                  prefix + metrics.slow(), what + " that did not fail and took long. " + since);
      error = new Counter(prefix + metrics.error(), what + " that failed. " + since);
      errorRole = metrics.errorCode() ? Role.ERRORS : Role.NAMED;
      String help =
          "Durations in milliseconds of spans of type " + type.documentType() + ". " + since;
      durations = new Durations(prefix + metrics.durations(), help, type);
      unnamed =
          metrics.withoutName()
              ? new Durations(prefix + metrics.durations() + "_without_methodName", help, type)
              : null;
    }
  }

  private static final class Counter {
    final byte[] header;
    final byte[] sample;

    Counter(String name, String help) {
      header = header(name + "_total", "counter", help);
      sample = bytes(name + "_total{");
    }
  }

  private static final class Durations {
    final byte[] header;
    final byte[] bucket;
    final byte[] sum;
    final byte[] count;

    /** Text between the labels and the value of each bucket, the last one for +Inf. */
    final byte[][] le;

    Durations(String name, String help, SpanType type) {
      header = header(name, "histogram", help);
      bucket = bytes(name + "_bucket{");
      sum = bytes(name + "_sum{");
      count = bytes(name + "_count{");
      List<Double> bounds = type.boundsMillis();
      le = new byte[bounds.size() + 1][];
      for (int i = 0; i < bounds.size(); i++) {
        // OzHera's client library prints a double as Java does.
        le[i] = bytes(",le=\"" + bounds.get(i) + "\"} ");
      }
      le[bounds.size()] = bytes(",le=\"+Inf\"} ");
    }
  }

  /**
   * Writes a page.
   *
   * @return its size in bytes
   */
  public long write(AnswerSums sums, OutputStream out) {
    var lines = new StreamedLines(out);
    for (SpanType type : SpanType.values()) {
      Families names = families.get(type);
      List<Sums> named = sums.of(type, Role.NAMED);
      write(lines, names.total, named, Sums::spans);
      write(lines, names.success, named, Sums::succeeded);
      if (names.slow != null) {
        write(lines, names.slow, named, Sums::slow);
      }
      write(lines, names.error, sums.of(type, names.errorRole), Sums::failed);
      write(lines, names.durations, named);
      if (names.unnamed != null) {
        write(lines, names.unnamed, sums.of(type, Role.UNNAMED));
      }
    }
    // The header is always written, so that no page is empty.
    write(lines, received.header);
    for (Map.Entry<String, Long> application : sums.received().entrySet()) {
      var label = new StringBuilder();
      LabelText.append(label, "application", application.getKey());
      write(lines, received.sample, bytes(label.toString()), application.getValue());
    }
    lines.flush();
    return lines.bytes;
  }

  private static void write(
      LineBuffer lines, Counter counter, List<Sums> all, ToLongFunction<Sums> value) {
    boolean begun = false;
    for (Sums sums : all) {
      long spans = value.applyAsLong(sums);
      if (spans != 0) {
        if (!begun) {
          begun = true;
          write(lines, counter.header);
        }
        write(lines, counter.sample, sums.labels().text(), spans);
      }
    }
  }

  private static void write(LineBuffer lines, Durations durations, List<Sums> all) {
    boolean begun = false;
    for (Sums sums : all) {
      if (sums.spans() != 0) {
        if (!begun) {
          begun = true;
          write(lines, durations.header);
        }
        write(lines, durations, sums);
      }
    }
  }

  private static void write(LineBuffer lines, Durations durations, Sums sums) {
    byte[] labels = sums.labels().text();
    int buckets = sums.buckets();
    int prefixBytes = durations.bucket.length + labels.length;
    lines.ensure((buckets + 2) * (prefixBytes + MAX_LE_BYTES + 1 + LineBuffer.MAX_NUMBER_BYTES));
    int first = lines.position();
    long count = 0;
    for (int bucket = 0; bucket < buckets; bucket++) {
      count += sums.bucket(bucket);
      if (bucket == 0) {
        lines.write(durations.bucket);
        lines.write(labels);
      } else {
        lines.repeat(first, prefixBytes);
      }
      lines.write(durations.le[bucket]);
      lines.write(count);
      lines.write('\n');
    }
    lines.write(durations.sum);
    lines.write(labels);
    lines.write(LABELS_END);
    lines.write(sums.millis(), sums.nanos(), MILLI_DIGITS);
    lines.write('\n');
    lines.write(durations.count);
    lines.write(labels);
    lines.write(LABELS_END);
    lines.write(count);
    lines.write('\n');
  }

  private static void write(LineBuffer lines, byte[] name, byte[] labels, long value) {
    lines.ensure(name.length + labels.length + LABELS_END.length + LineBuffer.MAX_NUMBER_BYTES + 1);
    lines.write(name);
    lines.write(labels);
    lines.write(LABELS_END);
    lines.write(value);
    lines.write('\n');
  }

  private static void write(LineBuffer lines, byte[] header) {
    lines.ensure(header.length);
    lines.write(header);
  }

  private static byte[] header(String name, String type, String help) {
    return bytes("# HELP " + name + " " + help + "\n# TYPE " + name + " " + type + "\n");
  }

  private static byte[] bytes(String text) {
    return text.getBytes(UTF_8);
  }

  /** Buffers lines for a stream. */
  private static final class StreamedLines extends LineBuffer {
    private final OutputStream out;
    private long bytes;

    StreamedLines(OutputStream out) {
      this.out = out;
    }

    @Override
    protected void moveOut(byte[] moved, int length) {
      bytes += length;
      try {
        out.write(moved, 0, length);
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }
}
