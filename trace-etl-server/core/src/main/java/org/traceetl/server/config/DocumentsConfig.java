package org.traceetl.server.config;

import static org.traceetl.common.ConfigException.check;
import static org.traceetl.common.ConfigException.checkRange;
import static org.traceetl.common.ConfigException.orElse;

import java.time.Duration;
import java.util.List;
import java.util.Set;

/**
 * The spans that become documents: {@code trace-etl.documents}. A missing value is its default.
 *
 * @param slowerThan a span of at least this duration is slow; 0 to 365 d
 * @param thresholds exceptions; the first match applies
 * @param attributes span and resource attributes stored in documents; no other attribute leaves the
 *     aggregation
 * @param perSeries slow or failed spans kept per series, window and pane; the others are counted as
 *     held back; 0 to 1000000
 * @param perQueue slow or failed spans kept per queue and window; 0 to 1000000
 * @param exemplarsPerQueue ordinary spans kept per queue and window, for series without slow or
 *     failed spans in a pane; 0 to 1000000
 */
public record DocumentsConfig(
    Duration slowerThan,
    List<Threshold> thresholds,
    List<String> attributes,
    Integer perSeries,
    Integer perQueue,
    Integer exemplarsPerQueue) {
  private static final String PREFIX = "trace-etl.documents.";
  private static final int MAX_DOCUMENTS = 1_000_000;

  public DocumentsConfig {
    slowerThan = orElse(slowerThan, Duration.ofSeconds(1));
    thresholds = List.copyOf(orElse(thresholds, List.of()));
    attributes =
        List.copyOf(
            orElse(
                attributes,
                List.of(
                    "http.request.method",
                    "http.route",
                    "url.path",
                    "http.response.status_code",
                    "rpc.service",
                    "rpc.method",
                    "db.system.name",
                    "db.system",
                    "messaging.system",
                    "messaging.destination.name",
                    "server.address",
                    "error.type",
                    "exception.type",
                    "host.name",
                    "service.instance.id")));
    perSeries = orElse(perSeries, 10);
    perQueue = orElse(perQueue, 10_000);
    exemplarsPerQueue = orElse(exemplarsPerQueue, 1_000);
    checkDuration("slower-than", slowerThan);
    check(
        attributes.stream().distinct().count() == attributes.size(),
        PREFIX + "attributes",
        attributes,
        "must not contain a value twice");
    checkRange(PREFIX + "per-series", perSeries, 0, MAX_DOCUMENTS);
    checkRange(PREFIX + "per-queue", perQueue, 0, MAX_DOCUMENTS);
    checkRange(PREFIX + "exemplars-per-queue", exemplarsPerQueue, 0, MAX_DOCUMENTS);
  }

  public static DocumentsConfig defaults() {
    return new DocumentsConfig(null, null, null, null, null, null);
  }

  /** Returns the same configuration without documents of ordinary spans. */
  public DocumentsConfig withoutExemplars() {
    return new DocumentsConfig(slowerThan, thresholds, attributes, perSeries, perQueue, 0);
  }

  private static void checkDuration(String name, Duration value) {
    check(
        value != null && !value.isNegative() && value.compareTo(Duration.ofDays(365)) <= 0,
        PREFIX + name,
        value,
        "must be 0 to 365 days");
  }

  /**
   * An exception to {@code slowerThan}.
   *
   * @param application application, with {@code *} as wildcard; default all
   * @param kinds kinds, as in filters; default all
   * @param slowerThan a matching span of at least this duration is slow; 0 to 365 d; required
   */
  public record Threshold(String application, Set<SpanKind> kinds, Duration slowerThan) {
    public Threshold {
      application = orElse(application, "*");
      kinds = Set.copyOf(orElse(kinds, Set.of()));
      checkDuration("thresholds.slower-than", slowerThan);
    }
  }
}
