package org.traceetl.server.expose;

import java.util.List;

/** The format of a page. */
public enum Format {
  /** Prometheus text 0.0.4. */
  TEXT("text/plain; version=0.0.4; charset=utf-8"),

  /** OpenMetrics 1.0.0, with exemplars and creation times. */
  OPENMETRICS("application/openmetrics-text; version=1.0.0; charset=utf-8"),

  /** OpenMetrics 2.0.0, with exemplars, start times and native histograms. */
  OPENMETRICS_2("application/openmetrics-text; version=2.0.0; charset=utf-8"),

  /** Prometheus' delimited protobuf messages, with native histograms. */
  PROTOBUF(
      "application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily;"
          + " encoding=delimited"),

  /** Prometheus text 1.0.0 with UTF-8 names. */
  TEXT_UTF8("text/plain; version=1.0.0; charset=utf-8; escaping=allow-utf-8"),

  /** {@link #OPENMETRICS} with UTF-8 names. */
  OPENMETRICS_UTF8(
      "application/openmetrics-text; version=1.0.0; charset=utf-8; escaping=allow-utf-8"),

  /** {@link #OPENMETRICS_2} with UTF-8 names. */
  OPENMETRICS_2_UTF8(
      "application/openmetrics-text; version=2.0.0; charset=utf-8; escaping=allow-utf-8"),

  /** {@link #PROTOBUF} with UTF-8 names. */
  PROTOBUF_UTF8(
      "application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily;"
          + " encoding=delimited; escaping=allow-utf-8");

  private static final Format[] ALL = values();

  /** Number of formats without UTF-8 names, which come first. */
  private static final int ESCAPED = 4;

  private final String contentType;

  Format(String contentType) {
    this.contentType = contentType;
  }

  /**
   * Returns the formats of a page in the order of their ordinals.
   *
   * @param utf8Names whether the page has names that some formats escape
   */
  public static List<Format> of(boolean utf8Names) {
    return List.of(ALL).subList(0, utf8Names ? ALL.length : ESCAPED);
  }

  /** Returns the value of the Content-Type header. */
  public String contentType() {
    return contentType;
  }

  /** Returns whether it is a version of OpenMetrics. */
  public boolean isOpenMetrics() {
    return this == OPENMETRICS || this == OPENMETRICS_UTF8 || isOpenMetrics2();
  }

  /** Returns whether a histogram is one line, and creation times are start times of samples. */
  public boolean isOpenMetrics2() {
    return this == OPENMETRICS_2 || this == OPENMETRICS_2_UTF8;
  }

  public boolean isProtobuf() {
    return this == PROTOBUF || this == PROTOBUF_UTF8;
  }

  /** Returns whether names may have any character; else they have letters, digits and _ only. */
  public boolean hasUtf8Names() {
    return ordinal() >= ESCAPED;
  }

  /** Returns the same format with UTF-8 names. */
  public Format withUtf8Names() {
    return hasUtf8Names() ? this : ALL[ordinal() + ESCAPED];
  }
}
