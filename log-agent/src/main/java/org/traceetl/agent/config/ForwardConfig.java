package org.traceetl.agent.config;

import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import org.traceetl.common.FileReason;
import org.traceetl.common.Secret;

/**
 * Where accepted OTLP trace requests are forwarded, and other spans as such.
 *
 * @param bufferBytes bytes on disk, in {@code forward} in {@code state-directory}, for requests
 *     that an endpoint has not accepted yet; 16 MiB to 64 GiB, at least twice {@code
 *     otlp.max-request-bytes}. If it is full, the oldest requests are dropped and counted
 * @param endpoints receivers of OTLP traces over HTTP, at most 16. Each gets all accepted OTLP
 *     trace requests unchanged, and the spans of rings and trace logs as OTLP, or those that {@code
 *     forward.keep} leaves of them; none: nothing is forwarded
 * @param keep which traces are forwarded
 */
public record ForwardConfig(long bufferBytes, List<Endpoint> endpoints, Keep keep) {
  /** Bytes of requests in memory on their way to the disk; a larger one is accepted alone. */
  public static final int QUEUE_BYTES = 8 * 1024 * 1024;

  public ForwardConfig {
    endpoints = List.copyOf(endpoints);
  }

  /** Returns 256 MiB and no endpoint. */
  public static ForwardConfig defaults() {
    return new ForwardConfig(
        256L << 20, List.of(), new Keep(false, 30_000, 1_000, true, 0.01, 256L << 20));
  }

  /**
   * Tail keeping: spans wait on disk, and are then forwarded if a span of their trace on this host
   * is slow or failed, or the trace is in a ratio.
   *
   * @param enabled whether agents forward only the spans of traces that have a slow or failed span
   *     on their host, and of a ratio of the other traces; to all endpoints
   * @param waitMillis how long a request waits; 1000 to 120000. A span is kept with a slow or
   *     failed one of its trace that the agent accepts up to this time before or after it
   * @param slowMillis least duration of a slow span; 0 to 86400000, 0: no span is slow
   * @param failed whether spans with status {@code ERROR} are failed; if not, no span is
   * @param ratio of the other traces, how many are kept; 0, or 0.000001 to 1. By trace ID, or
   *     {@code rv} of tracestate {@code ot}, so all agents keep the same ones
   * @param bufferBytes bytes on disk, in {@code forward/waiting} in {@code state-directory}, for
   *     requests that wait; 16 MiB to 64 GiB, at least twice {@code otlp.max-request-bytes}. While
   *     more than half of it waits, the oldest requests are decided on early, and counted
   */
  public record Keep(
      boolean enabled,
      int waitMillis,
      int slowMillis,
      boolean failed,
      double ratio,
      long bufferBytes) {
    /** Most heap for the traces in memory of which a span is slow or failed: 131072 of them. */
    public static final int MARKS_BYTES = 8 * 1024 * 1024;

    private static final double END = 0x1p56;

    /** Returns the least duration of a slow span. */
    public long slowNanos() {
      return slowMillis == 0 ? Long.MAX_VALUE : TimeUnit.MILLISECONDS.toNanos(slowMillis);
    }

    /** Returns the threshold of the ratio, as spans have it; 2^56 for 0. */
    public long threshold() {
      return Math.round((1 - ratio) * END);
    }
  }

  /** How requests are compressed. */
  public enum Compression {
    GZIP,
    NONE
  }

  /**
   * One receiver.
   *
   * @param name name in metrics, logs and the stored position; 1 to 32 lower-case letters, digits
   *     and hyphens, different for each endpoint. An endpoint with a new name gets the requests
   *     accepted from then on
   * @param url address, such as {@code http://tempo:4318}; without a path, {@code /v1/traces} is
   *     added. Redirects are not followed
   * @param compression {@code gzip}, or {@code none} for a fast network
   * @param headers headers of each request, such as {@code X-Scope-OrgID}; values are treated as
   *     secrets
   * @param headersFile file of further headers, a line {@code Name: value} each; read for each
   *     request
   * @param tokenFile file that contains a token for the header {@code Authorization: Bearer}; read
   *     for each request
   * @param caFile PEM file of root certificates for {@code https}; none: those of the JVM. Read at
   *     the start
   * @param timeoutMillis longest wait for an answer; 100 to 600000
   */
  public record Endpoint(
      String name,
      URI url,
      Compression compression,
      Map<String, Secret> headers,
      Optional<Path> headersFile,
      Optional<Path> tokenFile,
      Optional<Path> caFile,
      int timeoutMillis) {
    private static final Pattern HEADER = Pattern.compile("[A-Za-z0-9!#$%&'*+.^_`|~-]+");
    private static final Pattern VALUE = Pattern.compile("[\\x20-\\x7e]+");

    /** The sender sets these itself. */
    private static final Set<String> RESERVED =
        Set.of(
            "connection",
            "content-encoding",
            "content-length",
            "content-type",
            "expect",
            "host",
            "transfer-encoding",
            "upgrade",
            "user-agent");

    public Endpoint {
      headers = Map.copyOf(headers);
    }

    /** Returns an endpoint with the default of each other key. */
    public static Endpoint of(String name, URI url) {
      return new Endpoint(
          name,
          url,
          Compression.GZIP,
          Map.of(),
          Optional.empty(),
          Optional.empty(),
          Optional.empty(),
          10_000);
    }

    /** Returns the address without its path, which may contain a secret. */
    public String shownUrl() {
      return url.getScheme() + "://" + url.getRawAuthority();
    }

    /** Returns whether configured headers are sent without encryption to another host. */
    public boolean hasClearTextSecrets() {
      boolean hasHeaders = !headers.isEmpty() || headersFile.isPresent() || tokenFile.isPresent();
      boolean isHere = Set.of("localhost", "127.0.0.1", "[::1]").contains(url.getHost());
      return hasHeaders && url.getScheme().equals("http") && !isHere;
    }

    /** Returns the settings without the path of the address and without values of headers. */
    @Override
    public String toString() {
      return ("Endpoint[name=%s, url=%s, compression=%s, headers=%s, headersFile=%s, tokenFile=%s,"
              + " caFile=%s, timeoutMillis=%d]")
          .formatted(
              name,
              shownUrl(),
              compression,
              headers,
              headersFile,
              tokenFile,
              caFile,
              timeoutMillis);
    }

    /** Returns whether a header may be configured. */
    static boolean isHeader(String header, String value) {
      return HEADER.matcher(header).matches()
          && !RESERVED.contains(header.toLowerCase(Locale.ROOT))
          && VALUE.matcher(value).matches();
    }

    /**
     * Returns the configured headers with the current content of the files.
     *
     * @throws IOException if a file cannot be used; the message reveals no content
     */
    public Map<String, String> readHeaders() throws IOException {
      Map<String, String> read = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
      headers.forEach((header, value) -> read.put(header, value.value()));
      if (headersFile.isPresent()) {
        int line = 0;
        for (String text : lines(headersFile.get())) {
          line++;
          if (!text.isBlank()) {
            int colon = text.indexOf(':');
            String header = colon < 0 ? "" : text.substring(0, colon).strip();
            String value = text.substring(colon + 1).strip();
            if (!isHeader(header, value)) {
              throw new IOException(
                  headersFile.get()
                      + ": line "
                      + line
                      + " must be `Name: value` of a header that the agent does not set");
            }
            if (read.put(header, value) != null) {
              throw new IOException(headersFile.get() + ": " + header + " is configured twice");
            }
          }
        }
      }
      if (tokenFile.isPresent()) {
        String token = String.join("\n", lines(tokenFile.get())).strip();
        if (!VALUE.matcher(token).matches()) {
          throw new IOException(tokenFile.get() + ": must contain one line with a token");
        }
        if (read.put("Authorization", "Bearer " + token) != null) {
          throw new IOException(tokenFile.get() + ": header Authorization is configured, too");
        }
      }
      return read;
    }

    private static List<String> lines(Path file) throws IOException {
      try {
        return Files.readAllLines(file);
      } catch (IOException e) {
        throw new IOException(file + ": " + FileReason.unreadable(e), e);
      }
    }
  }
}
