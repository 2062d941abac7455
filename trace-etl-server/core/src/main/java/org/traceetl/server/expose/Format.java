package org.traceetl.server.expose;

/** The format of a page. */
public enum Format {
  /** Prometheus text 0.0.4. */
  TEXT("text/plain; version=0.0.4; charset=utf-8"),

  /** OpenMetrics 1.0.0, with exemplars and creation times. */
  OPENMETRICS("application/openmetrics-text; version=1.0.0; charset=utf-8"),

  /** Prometheus' delimited protobuf messages, with native histograms. */
  PROTOBUF(
      "application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily;"
          + " encoding=delimited");

  private final String contentType;

  Format(String contentType) {
    this.contentType = contentType;
  }

  /** Returns the value of the Content-Type header. */
  public String contentType() {
    return contentType;
  }
}
