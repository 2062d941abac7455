package org.traceetl.server.features.why;

import static org.traceetl.common.ConfigException.check;
import static org.traceetl.common.ConfigException.checkRange;
import static org.traceetl.common.ConfigException.orElse;

import java.time.Duration;
import java.util.List;
import org.traceetl.server.consume.retained.RetainedMessages;

/**
 * Answers of {@code /api/why}: {@code trace-etl.why}. A missing value is its default.
 *
 * @param enabled whether this server answers {@code /api/why}, one request at a time
 * @param within maximum time in which a request reads messages or documents; 1 s to 10 m
 * @param bytesPerSecond maximum rate at which it reads them; 100000 to 1000000000
 * @param maxMessages maximum number of messages that it reads; further ones are the oldest; 1 to
 *     100000000
 * @param maxTraces maximum number of selected traces, and of traces in the sample, that it keeps,
 *     each about 300 bytes; beyond it, a part is chosen by the trace ID; also of documents of each
 *     interval, of which the oldest are left out; 1000 to 1000000
 * @param outcomes attributes that record how a span ended, with {@code *} as wildcard; they are
 *     listed as outcomes, not as causes
 */
public record WhyConfig(
    Boolean enabled,
    Duration within,
    Long bytesPerSecond,
    Long maxMessages,
    Integer maxTraces,
    List<String> outcomes) {
  private static final String PREFIX = "trace-etl.why.";

  /** On a busy machine the answer to a read takes long, however few messages it has. */
  private static final int READS_AT_ONCE = 16;

  private static final Duration MIN_WITHIN = Duration.ofSeconds(1);
  private static final Duration MAX_WITHIN = Duration.ofMinutes(10);

  public WhyConfig {
    enabled = orElse(enabled, true);
    within = orElse(within, Duration.ofSeconds(8));
    bytesPerSecond = orElse(bytesPerSecond, 25_000_000L);
    maxMessages = orElse(maxMessages, 200_000L);
    maxTraces = orElse(maxTraces, 50_000);
    outcomes =
        List.copyOf(
            orElse(
                outcomes,
                List.of(
                    "error.*",
                    "exception.*",
                    "http.response.status_code",
                    "http.status_code",
                    "rpc.grpc.status_code",
                    "rpc.response.status_code",
                    "db.response.status_code",
                    "otel.status_*")));
    check(
        within.compareTo(MIN_WITHIN) >= 0 && within.compareTo(MAX_WITHIN) <= 0,
        PREFIX + "within",
        within,
        "must be 1 s to 10 m");
    checkRange(PREFIX + "bytes-per-second", bytesPerSecond, 100_000, 1_000_000_000);
    checkRange(PREFIX + "max-messages", maxMessages, 1, 100_000_000);
    checkRange(PREFIX + "max-traces", maxTraces, 1_000, 1_000_000);
  }

  public static WhyConfig defaults() {
    return new WhyConfig(null, null, null, null, null, null);
  }

  /** Returns the limits of one of several intervals that a request reads. */
  RetainedMessages.Limits limits(int intervals) {
    return new RetainedMessages.Limits(
        Math.max(1, maxMessages / intervals),
        bytesPerSecond,
        within.dividedBy(intervals),
        READS_AT_ONCE);
  }
}
