package org.traceetl.server.config;

import static org.traceetl.common.ConfigException.check;
import static org.traceetl.common.ConfigException.checkRange;
import static org.traceetl.common.ConfigException.checkReadable;
import static org.traceetl.common.ConfigException.orElse;

import java.nio.file.Path;
import java.time.Duration;

/**
 * The journal: {@code trace-etl.journal}. A missing value is its default. All servers of a consumer
 * group must have the same values.
 *
 * @param topic topic of the journal; must exist, with as many queues as the span topic on the same
 *     brokers
 * @param lease how long a server shows a queue's series after its last confirmed append; 1 s to 10
 *     min. Idle queues renew it after a third of it. After a crash, the next owner counts at once
 *     and shows the series after 1.25 leases; after a planned stop, at once. Must exceed
 *     Prometheus' {@code scrape_timeout}
 * @param snapshotInterval how often the state of a queue is written at least, so that a take-over
 *     reads little; 1 s to 24 h. Must be well below the broker's retention: if the last snapshot of
 *     a queue is deleted, its counters restart
 * @param keysFile file of keys that authenticate journal messages, one per line: {@code NAME
 *     SECRET}, and {@code NAME SECRET active} for the key to write with. A name has 1 to 32
 *     letters, digits, {@code . _ -}; a secret is Base64 of at least 32 bytes. Reloaded; an invalid
 *     file leaves the old keys in force. None: no authentication
 * @param acceptUnsigned whether unauthenticated messages count too, while keys are introduced or
 *     removed; needs {@code keys-file}
 */
public record JournalConfig(
    String topic,
    Duration lease,
    Duration snapshotInterval,
    Path keysFile,
    Boolean acceptUnsigned) {
  private static final String PREFIX = "trace-etl.journal.";
  private static final Duration MIN_LEASE = Duration.ofSeconds(1);
  private static final Duration MAX_LEASE = Duration.ofMinutes(10);
  private static final Duration MAX_SNAPSHOT_INTERVAL = Duration.ofHours(24);

  public JournalConfig {
    topic = orElse(topic, "trace-windows");
    lease = orElse(lease, Duration.ofSeconds(30));
    snapshotInterval = orElse(snapshotInterval, Duration.ofMinutes(10));
    acceptUnsigned = orElse(acceptUnsigned, false);
    check(
        keysFile != null || !acceptUnsigned,
        PREFIX + "accept-unsigned",
        acceptUnsigned,
        "requires keys-file: without keys no message is authenticated");
    checkReadable(PREFIX + "keys-file", keysFile, "a readable file of keys");
    check(!topic.isBlank(), PREFIX + "topic", topic, "must be the name of a topic");
    checkRange(PREFIX + "lease", lease, MIN_LEASE, MAX_LEASE, "must be 1 s to 10 min");
    checkRange(
        PREFIX + "snapshot-interval",
        snapshotInterval,
        MIN_LEASE,
        MAX_SNAPSHOT_INTERVAL,
        "must be 1 s to 24 h, and well below the broker's retention of messages");
  }

  public static JournalConfig defaults() {
    return new JournalConfig(null, null, null, null, null);
  }
}
