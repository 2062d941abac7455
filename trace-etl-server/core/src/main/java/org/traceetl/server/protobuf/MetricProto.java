package org.traceetl.server.protobuf;

/**
 * Field numbers of {@code io.prometheus.client}, from its {@code metrics.proto}, and writers that
 * several kinds of pages need. The first field of a message is written last.
 */
public final class MetricProto {
  public static final int COUNTER = 0;
  public static final int GAUGE = 1;
  public static final int SUMMARY = 2;
  public static final int UNTYPED = 3;
  public static final int HISTOGRAM = 4;

  private static final int FAMILY_NAME = 1;
  private static final int FAMILY_HELP = 2;
  private static final int FAMILY_TYPE = 3;
  public static final int FAMILY_METRIC = 4;
  private static final int FAMILY_UNIT = 5;

  public static final int METRIC_LABEL = 1;
  public static final int METRIC_GAUGE = 2;
  public static final int METRIC_COUNTER = 3;
  public static final int METRIC_SUMMARY = 4;
  public static final int METRIC_UNTYPED = 5;
  public static final int METRIC_HISTOGRAM = 7;

  public static final int LABEL_NAME = 1;
  public static final int LABEL_VALUE = 2;

  /** Value of a counter, gauge or untyped metric. */
  public static final int VALUE = 1;

  public static final int COUNTER_CREATED = 3;

  public static final int SAMPLE_COUNT = 1;
  public static final int SAMPLE_SUM = 2;
  public static final int SUMMARY_QUANTILE = 3;
  public static final int SUMMARY_CREATED = 4;
  public static final int QUANTILE = 1;
  public static final int QUANTILE_VALUE = 2;

  public static final int HISTOGRAM_BUCKET = 3;
  public static final int HISTOGRAM_SCHEMA = 5;
  public static final int HISTOGRAM_ZERO_THRESHOLD = 6;
  public static final int HISTOGRAM_ZERO_COUNT = 7;
  public static final int HISTOGRAM_POSITIVE_SPAN = 12;
  public static final int HISTOGRAM_POSITIVE_DELTA = 13;
  public static final int HISTOGRAM_CREATED = 15;
  public static final int HISTOGRAM_EXEMPLAR = 16;

  public static final int BUCKET_COUNT = 1;
  public static final int BUCKET_BOUND = 2;
  public static final int BUCKET_EXEMPLAR = 3;
  public static final int SPAN_OFFSET = 1;
  public static final int SPAN_LENGTH = 2;

  public static final int EXEMPLAR_LABEL = 1;
  public static final int EXEMPLAR_VALUE = 2;
  public static final int EXEMPLAR_TIMESTAMP = 3;

  private MetricProto() {}

  /**
   * Writes the fields of a family that come before its metrics.
   *
   * @param unit null for none
   */
  public static void family(MessageBuffer out, String name, String help, int type, String unit) {
    if (unit != null && !unit.isEmpty()) {
      // Fields may have any order; metrics that are written elsewhere follow.
      out.text(FAMILY_UNIT, unit);
    }
    out.integer(FAMILY_TYPE, type);
    out.text(FAMILY_HELP, help);
    out.text(FAMILY_NAME, name);
  }

  /** Writes a label into the given field of the current message. */
  public static void label(MessageBuffer out, int field, String name, String value) {
    int before = out.size();
    out.text(LABEL_VALUE, value);
    out.text(LABEL_NAME, name);
    out.enclose(field, before);
  }
}
