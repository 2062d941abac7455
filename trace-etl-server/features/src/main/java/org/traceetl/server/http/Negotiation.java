package org.traceetl.server.http;

import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import org.traceetl.server.expose.Encoding;
import org.traceetl.server.expose.Format;
import org.traceetl.server.expose.Page;

/** Chooses the encoding of a page by the headers of a request. */
public final class Negotiation {
  /** Without UTF-8 names. */
  private static final List<Format> FORMATS = Format.of(false);

  private static final String PROTOBUF = "application/vnd.google.protobuf";
  private static final String OPENMETRICS = "application/openmetrics-text";
  private static final String TEXT = "text/plain";

  private Negotiation() {}

  /**
   * What is liked best of what there is; of what is liked the same, protobuf before OpenMetrics
   * 2.0, 1.0 and text. Text goes even to those who accept none of them: an unreadable answer tells
   * more than a refused one.
   *
   * @param accept value of the Accept header, or null
   * @param acceptEncoding value of the Accept-Encoding header, or null
   */
  public static Encoding encoding(String accept, String acceptEncoding) {
    return encoding(accept, acceptEncoding, false);
  }

  /**
   * Chooses between names with underscores and UTF-8 names, too.
   *
   * @param hasUtf8Names whether the page has names that are not the same in both forms
   */
  public static Encoding encoding(String accept, String acceptEncoding, boolean hasUtf8Names) {
    Format format = format(accept);
    return Encoding.of(
        hasUtf8Names && allowsUtf8Names(accept, format) ? format.withUtf8Names() : format,
        gzip(acceptEncoding));
  }

  /**
   * Returns whether a scraper asks for UTF-8 names in a format. Prometheus cannot ask for them in
   * protobuf, so it gets them if it asks for them in another format: its labels must not depend on
   * the format.
   */
  private static boolean allowsUtf8Names(String accept, Format format) {
    for (String range : ranges(accept)) {
      if ("allow-utf-8".equals(parameter(range, "escaping"))
          && (format == Format.PROTOBUF || format(type(range), range) == format)
          && quality(range) > 0) {
        return true;
      }
    }
    return false;
  }

  /** Returns an Accept header, or null, without the ranges that mean protobuf. */
  public static String withoutProtobuf(String accept) {
    return String.join(
        ",", Arrays.stream(ranges(accept)).filter(range -> !type(range).equals(PROTOBUF)).toList());
  }

  private static Format format(String accept) {
    double[] qualities = new double[FORMATS.size()];
    for (String range : ranges(accept)) {
      Format format = format(type(range), range);
      if (format != null) {
        qualities[format.ordinal()] = Math.max(qualities[format.ordinal()], quality(range));
      }
    }
    Format best = Format.TEXT;
    for (Format format : FORMATS) {
      double quality = qualities[format.ordinal()];
      if (quality > 0 && quality >= qualities[best.ordinal()]) {
        best = format;
      }
    }
    return best;
  }

  /** The format that a range means; null for one that there is not. */
  private static Format format(String type, String range) {
    return switch (type) {
      case PROTOBUF ->
          "io.prometheus.client.metricfamily".equals(parameter(range, "proto"))
                  && "delimited".equals(parameter(range, "encoding"))
              ? Format.PROTOBUF
              : null;
      case OPENMETRICS -> openMetrics(range);
      case TEXT -> versionFits(range, "0.0.4", "1.0.0") ? Format.TEXT : null;
      case "text/*" -> Format.TEXT;
      default -> null;
    };
  }

  /** Returns the version that a range asks for; 1.0.0 without one. */
  private static Format openMetrics(String range) {
    if ("2.0.0".equals(parameter(range, "version"))) {
      return Format.OPENMETRICS_2;
    }
    return versionFits(range, "1.0.0", "0.0.1") ? Format.OPENMETRICS : null;
  }

  /** Whether an Accept-Encoding header, or null, allows gzip. */
  public static boolean gzip(String acceptEncoding) {
    double gzip = -1;
    double any = 0;
    for (String range : ranges(acceptEncoding)) {
      switch (type(range)) {
        case "gzip", "x-gzip" -> gzip = Math.max(gzip, quality(range));
        case "*" -> any = quality(range);
        default -> {}
      }
    }
    return (gzip >= 0 ? gzip : any) > 0;
  }

  private static String[] ranges(String header) {
    return header == null ? new String[0] : header.toLowerCase(Locale.ROOT).split(",", -1);
  }

  private static String type(String range) {
    int end = range.indexOf(';');
    return (end < 0 ? range : range.substring(0, end)).strip();
  }

  private static boolean versionFits(String range, String... versions) {
    String version = parameter(range, "version");
    return version == null || List.of(versions).contains(version);
  }

  private static double quality(String range) {
    String q = parameter(range, "q");
    if (q == null) {
      return 1;
    }
    try {
      return Math.clamp(Double.parseDouble(q), 0, 1);
    } catch (NumberFormatException e) {
      return 0;
    }
  }

  private static String parameter(String range, String name) {
    String[] parts = range.split(";", -1);
    for (int i = 1; i < parts.length; i++) {
      int equals = parts[i].indexOf('=');
      if (equals > 0 && parts[i].substring(0, equals).strip().equals(name)) {
        return parts[i].substring(equals + 1).strip().replace("\"", "");
      }
    }
    return null;
  }

  /** Answers with a page. */
  public static void send(Page page, HttpServletResponse response) throws IOException {
    Encoding encoding = page.encoding();
    response.setContentType(encoding.format().contentType());
    response.setHeader("Vary", "Accept, Accept-Encoding");
    if (encoding.gzip()) {
      response.setHeader("Content-Encoding", "gzip");
    }
    response.setContentLengthLong(page.bytes());
    page.writeTo(response.getOutputStream());
  }
}
