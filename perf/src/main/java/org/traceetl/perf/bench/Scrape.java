package org.traceetl.perf.bench;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.Arrays;
import java.util.zip.GZIPInputStream;

/**
 * A page, requested as Prometheus does.
 *
 * @param bytes on the wire
 * @param nanos from the request to the last byte
 * @param samples lines that are not comments
 * @param series of the calls counter
 * @param calls the sum of the calls counter
 * @param probes the sum of the calls of service {@link #PROBE}
 * @param requests the sum of the requests of the service graph
 */
record Scrape(
    long bytes, long nanos, long samples, long series, long calls, long probes, long requests) {
  /** A service whose calls are counted separately. */
  static final String PROBE = "probe";

  /** The header that Prometheus 3 sends without native histograms. */
  private static final String ACCEPT =
      "application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6,"
          + "application/openmetrics-text;version=0.0.1;q=0.5,"
          + "text/plain;version=1.0.0;escaping=allow-utf-8;q=0.4,"
          + "text/plain;version=0.0.4;q=0.3,*/*;q=0.2";

  private static final byte[] CALLS = "traces_span_metrics_calls_total{".getBytes(US_ASCII);
  private static final byte[] REQUESTS = "traces_service_graph_request_total{".getBytes(US_ASCII);
  private static final byte[] PROBE_LABEL = ("service_name=\"" + PROBE + "\"").getBytes(US_ASCII);
  private static final byte[] END_OF_LABELS = "\"} ".getBytes(US_ASCII);
  private static final int BUFFER_BYTES = 1 << 18;

  /**
   * Reads and parses the page.
   *
   * @throws IOException if the page does not exist
   */
  static Scrape of(HttpClient http, URI page) throws IOException, InterruptedException {
    return get(http, page, true, true);
  }

  /** Reads the page without parsing it: 0 samples, series and calls. */
  static Scrape taken(HttpClient http, URI page, boolean gzip)
      throws IOException, InterruptedException {
    return get(http, page, gzip, false);
  }

  private static Scrape get(HttpClient http, URI page, boolean gzip, boolean read)
      throws IOException, InterruptedException {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(page).timeout(Duration.ofSeconds(60)).header("Accept", ACCEPT);
    if (gzip) {
      request.header("Accept-Encoding", "gzip");
    }
    long startNanos = System.nanoTime();
    HttpResponse<InputStream> response =
        http.send(request.build(), HttpResponse.BodyHandlers.ofInputStream());
    try (Counted wire = new Counted(response.body())) {
      if (response.statusCode() != 200) {
        throw new IOException(page + " answered " + response.statusCode());
      }
      Lines lines = new Lines();
      boolean zipped = response.headers().firstValue("Content-Encoding").orElse("").equals("gzip");
      if (read) {
        lines.readAll(zipped ? new GZIPInputStream(wire, BUFFER_BYTES) : wire);
      } else {
        byte[] buffer = new byte[BUFFER_BYTES];
        while (wire.read(buffer, 0, buffer.length) >= 0) {}
      }
      return new Scrape(
          wire.bytes,
          System.nanoTime() - startNanos,
          lines.samples,
          lines.series,
          lines.calls,
          lines.probes,
          lines.requests);
    }
  }

  /** Counts the bytes read from a stream. */
  private static final class Counted extends InputStream {
    private final InputStream in;
    private long bytes;

    private Counted(InputStream in) {
      this.in = in;
    }

    @Override
    public int read() throws IOException {
      int one = in.read();
      bytes += one < 0 ? 0 : 1;
      return one;
    }

    @Override
    public int read(byte[] buffer, int offset, int length) throws IOException {
      int read = in.read(buffer, offset, length);
      bytes += Math.max(0, read);
      return read;
    }

    @Override
    public void close() throws IOException {
      in.close();
    }
  }

  /** Parses and sums the lines of a page. */
  private static final class Lines {
    private byte[] buffer = new byte[BUFFER_BYTES];
    private long samples;
    private long series;
    private long calls;
    private long probes;
    private long requests;

    private void readAll(InputStream page) throws IOException {
      int filled = 0;
      int read;
      while ((read = page.read(buffer, filled, buffer.length - filled)) >= 0) {
        filled += read;
        int line = 0;
        for (int at = filled - read; at < filled; at++) {
          if (buffer[at] == '\n') {
            add(line, at);
            line = at + 1;
          }
        }
        System.arraycopy(buffer, line, buffer, 0, filled - line);
        filled -= line;
        if (filled == buffer.length) {
          throw new IOException("a line of more than " + buffer.length + " bytes");
        }
      }
    }

    private void add(int from, int to) {
      if (from == to || buffer[from] == '#') {
        return;
      }
      samples++;
      if (startsWith(CALLS, from, to)) {
        series++;
        long count = value(from, to);
        calls += count;
        if (indexOf(PROBE_LABEL, from, to) >= 0) {
          probes += count;
        }
      } else if (startsWith(REQUESTS, from, to)) {
        requests += value(from, to);
      }
    }

    /** Returns the value of a counter, which has no exemplar. */
    private long value(int from, int to) {
      // Finds the last occurrence: a label may contain the same text.
      int value = lastIndexOf(END_OF_LABELS, from, to) + END_OF_LABELS.length;
      return (long) Double.parseDouble(new String(buffer, value, to - value, US_ASCII));
    }

    private boolean startsWith(byte[] text, int from, int to) {
      return to - from >= text.length
          && Arrays.equals(buffer, from, from + text.length, text, 0, text.length);
    }

    private int lastIndexOf(byte[] text, int from, int to) {
      for (int at = to - text.length; at >= from; at--) {
        if (startsWith(text, at, to)) {
          return at;
        }
      }
      return -1;
    }

    private int indexOf(byte[] text, int from, int to) {
      for (int at = from; at <= to - text.length; at++) {
        if (startsWith(text, at, to)) {
          return at;
        }
      }
      return -1;
    }
  }
}
