package org.traceetl.server.expose;

import java.math.BigDecimal;
import java.util.List;
import org.traceetl.server.protobuf.MessageBuffer;
import org.traceetl.server.protobuf.MetricProto;

/** A family of a page: a counter or a histogram, as the bytes that stand on a page. Immutable. */
public final class Family {
  /** A series tells its families by the bits of a long. */
  static final int MOST = Long.SIZE;

  /** Most series of a section: neighbours of one queue, whose numbers are kept in one block. */
  public static final int BLOCK_SERIES = 128;

  private static final int UNIT_MILLI_DIGITS = 6;
  private static final int UNIT_SECOND_DIGITS = 9;

  private final int index;
  private final String name;
  private final String help;

  /** What OpenMetrics and protobuf say it is; null where the name does not end with it. */
  private final String unit;

  private final int sectionSeries;
  public final byte[] total;
  public final byte[] created;
  public final byte[] bucket;
  public final byte[] sum;
  public final byte[] count;

  /** What stands between the labels and a bucket's value; the last one is +Inf. Null: a counter. */
  public final byte[][] le;

  /** The same as numbers, as protobuf has them. */
  private final double[] bounds;

  private Family(
      int index,
      String name,
      String help,
      String unit,
      int sectionSeries,
      byte[][] le,
      double[] bounds) {
    if (index >= MOST) {
      throw new IllegalArgumentException("family " + index + ": must be below " + MOST);
    }
    this.index = index;
    this.name = name;
    this.help = help;
    this.unit = unit;
    this.sectionSeries = sectionSeries;
    this.le = le;
    this.bounds = bounds;
    total = Naming.bytes(name + "_total{");
    created = Naming.bytes(name + "_created{");
    bucket = Naming.bytes(name + "_bucket{");
    sum = Naming.bytes(name + "_sum{");
    count = Naming.bytes(name + "_count{");
  }

  /**
   * @param index its place among the families of its naming
   * @param name without the ending of a sample
   */
  public static Family counter(int index, String name, String help) {
    return new Family(index, name, help, null, BLOCK_SERIES, null, null);
  }

  /**
   * @param sectionSeries see {@link #sectionSeries}
   * @param boundsNanos upper bounds of the finite buckets, rising
   * @param seconds whether durations are in seconds; else in milliseconds
   */
  public static Family histogram(
      int index,
      String name,
      String help,
      String unit,
      int sectionSeries,
      long[] boundsNanos,
      boolean seconds) {
    byte[][] le = new byte[boundsNanos.length + 1][];
    double[] bounds = new double[le.length];
    for (int i = 0; i < boundsNanos.length; i++) {
      String bound = bound(boundsNanos[i], seconds);
      le[i] = Naming.bytes(",le=\"" + bound + "\"} ");
      bounds[i] = Double.parseDouble(bound);
    }
    le[boundsNanos.length] = Naming.bytes(",le=\"+Inf\"} ");
    bounds[boundsNanos.length] = Double.POSITIVE_INFINITY;
    return new Family(index, name, help, unit, sectionSeries, le, bounds);
  }

  /** Its place among the families of its naming. */
  public int index() {
    return index;
  }

  /** The bit that stands for it in a series. */
  public long bit() {
    return 1L << index;
  }

  public boolean isHistogram() {
    return le != null;
  }

  /** Buckets of a histogram, the one of +Inf included. */
  public int buckets() {
    return le.length;
  }

  /** The upper bound of a bucket in the page's unit. */
  public double bound(int of) {
    return bounds[of];
  }

  /**
   * Series of a section. So many that its text, with usual labels and bounds, is somewhat less than
   * a piece that is compressed at once: with fewer, more of the page stays when few series change;
   * with more, a piece is compressed better and slower.
   */
  public int sectionSeries() {
    return sectionSeries;
  }

  /**
   * What stands before its samples. Given without samples as well: a page never is empty.
   *
   * @param bytes of the samples
   */
  public byte[] header(Format format, long bytes) {
    if (format == Format.PROTOBUF) {
      return messageHeader(bytes);
    }
    boolean openMetrics = format == Format.OPENMETRICS;
    String family = openMetrics || isHistogram() ? name : name + "_total";
    return Naming.bytes(
        "# HELP "
            + family
            + " "
            + help
            + "\n# TYPE "
            + family
            + (isHistogram() ? " histogram\n" : " counter\n")
            + (openMetrics && unit != null ? "# UNIT " + name + " " + unit + "\n" : ""));
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

  /** Of the families of a naming, as one long. */
  public static long bits(List<Family> families) {
    return families.stream().mapToLong(Family::bit).reduce(0, (one, other) -> one | other);
  }

  /**
   * With a decimal point, as OpenMetrics wants it, in all formats: so that le is the same label.
   */
  private static String bound(long nanos, boolean seconds) {
    BigDecimal value =
        BigDecimal.valueOf(nanos, seconds ? UNIT_SECOND_DIGITS : UNIT_MILLI_DIGITS)
            .stripTrailingZeros();
    return value.setScale(Math.max(1, value.scale())).toPlainString();
  }
}
