package org.traceetl.server.expose;

import java.util.Locale;

/** The formats and compressions of a page. */
public enum Encoding {
  TEXT(Format.TEXT, false),
  TEXT_GZIP(Format.TEXT, true),
  OPENMETRICS(Format.OPENMETRICS, false),
  OPENMETRICS_GZIP(Format.OPENMETRICS, true),
  OPENMETRICS_2(Format.OPENMETRICS_2, false),
  OPENMETRICS_2_GZIP(Format.OPENMETRICS_2, true),
  PROTOBUF(Format.PROTOBUF, false),
  PROTOBUF_GZIP(Format.PROTOBUF, true),
  TEXT_UTF8(Format.TEXT_UTF8, false),
  TEXT_UTF8_GZIP(Format.TEXT_UTF8, true),
  OPENMETRICS_UTF8(Format.OPENMETRICS_UTF8, false),
  OPENMETRICS_UTF8_GZIP(Format.OPENMETRICS_UTF8, true),
  OPENMETRICS_2_UTF8(Format.OPENMETRICS_2_UTF8, false),
  OPENMETRICS_2_UTF8_GZIP(Format.OPENMETRICS_2_UTF8, true),
  PROTOBUF_UTF8(Format.PROTOBUF_UTF8, false),
  PROTOBUF_UTF8_GZIP(Format.PROTOBUF_UTF8, true);

  private final Format format;
  private final boolean gzip;

  Encoding(Format format, boolean gzip) {
    this.format = format;
    this.gzip = gzip;
  }

  public static Encoding of(Format format, boolean gzip) {
    return values()[2 * format.ordinal() + (gzip ? 1 : 0)];
  }

  public Format format() {
    return format;
  }

  public boolean gzip() {
    return gzip;
  }

  /** Returns the name in lower case, as a label value. */
  public String label() {
    return name().toLowerCase(Locale.ROOT);
  }
}
