package org.traceetl.server.expose;

/** The forms in which a page can be had. */
public enum Encoding {
  TEXT(false, false),
  TEXT_GZIP(false, true),
  OPENMETRICS(true, false),
  OPENMETRICS_GZIP(true, true);

  private final boolean openMetrics;
  private final boolean gzip;

  Encoding(boolean openMetrics, boolean gzip) {
    this.openMetrics = openMetrics;
    this.gzip = gzip;
  }

  public static Encoding of(boolean openMetrics, boolean gzip) {
    return values()[(openMetrics ? 2 : 0) + (gzip ? 1 : 0)];
  }

  /** OpenMetrics 1.0.0; otherwise Prometheus text 0.0.4. */
  public boolean openMetrics() {
    return openMetrics;
  }

  public boolean gzip() {
    return gzip;
  }

  /** As a label: lower case. */
  public String label() {
    return name().toLowerCase(java.util.Locale.ROOT);
  }

  /** Value of the Content-Type header. */
  public String contentType() {
    return openMetrics
        ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
        : "text/plain; version=0.0.4; charset=utf-8";
  }
}
