package org.traceetl.server.expose;

import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import org.traceetl.server.protobuf.MessageBuffer;
import org.traceetl.server.protobuf.MetricProto;
import org.traceetl.server.window.Form;
import org.traceetl.server.window.MeasureForm;
import org.traceetl.server.window.NativeBuckets;

/** A family of a page, a counter or a histogram, with its pre-rendered bytes. Immutable. */
public final class Family {
  /** Maximum number of families: a series stores its families as the bits of a long. */
  static final int MOST = Long.SIZE;

  /**
   * Maximum number of series in a section. They are neighbours of one queue whose numbers are in
   * one block.
   */
  public static final int BLOCK_SERIES = 128;

  private static final String BEFORE_BOUND = ",le=\"";
  private static final String AFTER_BOUND = "\"} ";
  private static final int UNIT_MILLI_DIGITS = 6;
  private static final int UNIT_SECOND_DIGITS = 9;

  private final int index;
  private final String name;
  private final String help;

  /** Unit in OpenMetrics and protobuf; null if the name does not end with it. */
  private final String unit;

  private final int sectionSeries;
  public final byte[] total;
  public final byte[] created;
  public final byte[] bucket;
  public final byte[] sum;
  public final byte[] count;

  /**
   * Text between the labels and the value of each bucket, the last one for +Inf; null for a
   * counter.
   */
  public final byte[][] le;

  /** Start of the line of a metric of OpenMetrics 2.0. */
  public final byte[] metric;

  /** By bucket: its bound and a colon, for OpenMetrics 2.0; null for a counter. */
  public final byte[][] point;

  /** The same bounds as numbers, for protobuf. */
  private final double[] bounds;

  /** Null for a counter of spans, events or bytes. */
  private final Form form;

  /** Null for a counter, and with classic buckets only. */
  private final NativeBuckets nativeBuckets;

  /** The metric as OTLP has it; null if its name and unit are those of pages. */
  private final Metric metricInOtlp;

  /** A metric as OTLP names it. */
  public record Metric(String name, String unit) {}

  private Family(
      int index,
      String name,
      String help,
      String unit,
      int sectionSeries,
      Form form,
      boolean isHistogram,
      Metric metricInOtlp) {
    if (index >= MOST) {
      throw new IllegalArgumentException("family " + index + ": must be below " + MOST);
    }
    this.index = index;
    this.name = name;
    this.help = help;
    this.unit = unit;
    this.sectionSeries = sectionSeries;
    this.form = form;
    this.metricInOtlp = metricInOtlp;
    nativeBuckets = isHistogram ? form.nativeBuckets() : null;
    le = isHistogram ? new byte[form.buckets()][] : null;
    point = isHistogram ? new byte[le.length][] : null;
    bounds = isHistogram ? new double[le.length] : null;
    for (int i = 0; isHistogram && i < le.length; i++) {
      boolean isFinite = i < le.length - 1;
      String bound = isFinite ? bound(form.boundsNanos()[i], form.seconds()) : "+Inf";
      le[i] = Naming.bytes(BEFORE_BOUND + bound + AFTER_BOUND);
      point[i] = Naming.bytes(bound + ":");
      bounds[i] = isFinite ? Double.parseDouble(bound) : Double.POSITIVE_INFINITY;
    }
    metric = Naming.bytes(name + "{");
    total = Naming.bytes(name + "_total{");
    created = Naming.bytes(name + "_created{");
    bucket = Naming.bytes(name + "_bucket{");
    sum = Naming.bytes(name + "_sum{");
    count = Naming.bytes(name + "_count{");
  }

  /**
   * @param index position among the families of the naming
   * @param name name without the suffix of a sample
   */
  public static Family counter(int index, String name, String help) {
    return new Family(index, name, help, null, BLOCK_SERIES, null, false, null);
  }

  /**
   * @param sectionSeries see {@link #sectionSeries}
   * @param form buckets and unit of its series
   */
  public static Family histogram(
      int index, String name, String help, String unit, int sectionSeries, Form form) {
    return new Family(index, name, help, unit, sectionSeries, form, true, null);
  }

  /**
   * Returns the family of a measure: a histogram of its values, or a counter of their sum.
   *
   * @param unit unit with which the name ends; null for none
   * @param sectionSeries see {@link #sectionSeries}
   * @param inOtlp the metric as OTLP has it
   */
  static Family measure(
      int index, String name, String unit, int sectionSeries, MeasureForm of, Metric inOtlp) {
    return new Family(
        index,
        name,
        of.help(),
        unit,
        of.isHistogram() ? sectionSeries : BLOCK_SERIES,
        of.form(),
        of.isHistogram(),
        inOtlp);
  }

  /** Returns the name without the suffix of a sample. */
  public String name() {
    return name;
  }

  public String help() {
    return help;
  }

  /** Returns the unit with which the name ends; null for none. */
  public String unit() {
    return unit;
  }

  /** Returns the position among the families of the naming. */
  public int index() {
    return index;
  }

  /** Returns the bit that represents the family in a series. */
  public long bit() {
    return 1L << index;
  }

  public boolean isHistogram() {
    return le != null;
  }

  /** Returns whether it is a counter of the sum of values, in the unit of {@link #seconds}. */
  public boolean isSum() {
    return form != null && le == null;
  }

  /** Returns the metric as OTLP has it; null if its name and unit are those of pages. */
  public Metric metricInOtlp() {
    return metricInOtlp;
  }

  /** Returns the number of buckets of a histogram, including +Inf. */
  public int buckets() {
    return le.length;
  }

  /** Returns true for durations in seconds, false for milliseconds; for a histogram or sum. */
  public boolean seconds() {
    return form.seconds();
  }

  /**
   * Returns whether pages in formats with native histograms contain the classic buckets of a
   * histogram.
   */
  public boolean isClassic() {
    return form.isClassic();
  }

  /** Returns the native buckets; null for none. */
  public NativeBuckets nativeBuckets() {
    return nativeBuckets;
  }

  /** Returns the label {@code le} of a bucket, as on all pages. */
  public String boundText(int of) {
    String text = new String(le[of], StandardCharsets.US_ASCII);
    return text.substring(BEFORE_BOUND.length(), text.length() - AFTER_BOUND.length());
  }

  /** Returns the upper bound of a bucket in the page's unit. */
  public double bound(int of) {
    return bounds[of];
  }

  /**
   * Returns the number of series in a section. With usual labels and bounds, the text of a section
   * is a little smaller than a block that is compressed at once. Smaller sections keep more of the
   * page when few series change; larger ones compress better but more slowly.
   */
  public int sectionSeries() {
    return sectionSeries;
  }

  /**
   * Returns the header of the family, which a page contains even without samples.
   *
   * @param bytes size of the samples
   */
  public byte[] header(Format format, long bytes) {
    if (format.isProtobuf()) {
      return messageHeader(bytes);
    }
    boolean openMetrics = format.isOpenMetrics();
    // OpenMetrics 1.0 alone names a counter without the suffix of its samples.
    boolean isPlain = isHistogram() || openMetrics && !format.isOpenMetrics2();
    String family = isPlain ? name : name + "_total";
    return Naming.bytes(
        "# HELP "
            + family
            + " "
            + helpText()
            + "\n# TYPE "
            + family
            + (isHistogram() ? " histogram\n" : " counter\n")
            + (openMetrics && unit != null ? "# UNIT " + name + " " + unit + "\n" : ""));
  }

  /** Returns the help, escaped as the text formats require. */
  private String helpText() {
    return help.replace("\\", "\\\\").replace("\n", "\\n");
  }

  private byte[] messageHeader(long bytes) {
    MessageBuffer out = new MessageBuffer();
    if (isHistogram()) {
      MetricProto.family(out, name, help, MetricProto.HISTOGRAM, unit);
    } else {
      MetricProto.family(out, name + "_total", help, MetricProto.COUNTER, null);
    }
    out.length(out.size() + bytes);
    return out.toByteArray();
  }

  /**
   * Returns the bound with a decimal point, as OpenMetrics requires. All formats use it, so that
   * {@code le} is the same label.
   */
  private static String bound(long nanos, boolean seconds) {
    BigDecimal value =
        BigDecimal.valueOf(nanos, seconds ? UNIT_SECOND_DIGITS : UNIT_MILLI_DIGITS)
            .stripTrailingZeros();
    return value.setScale(Math.max(1, value.scale())).toPlainString();
  }
}
