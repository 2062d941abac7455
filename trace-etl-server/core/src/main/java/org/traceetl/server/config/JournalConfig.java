package org.traceetl.server.config;

import static org.traceetl.server.config.ConfigException.check;
import static org.traceetl.server.config.ConfigException.orElse;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;

/**
 * The journal: {@code trace-etl.journal}. A missing value is its default. All servers of a consumer
 * group have the same.
 *
 * @param topic beside the span topic, with the same queues on the same brokers
 * @param lease so long after it last found a queue to be its own, a server shows the queue's
 *     counts; after a crash its next owner waits that long before it shows them. Default 30 s
 * @param snapshotInterval how often a queue's whole state is written; default 10 min
 * @param keysFile keys that the servers authenticate their messages with; null: none
 * @param acceptUnsigned whether messages without a code count beside keys; default false
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
        "needs keys-file; without keys no message is authenticated");
    check(
        keysFile == null || Files.isReadable(keysFile),
        PREFIX + "keys-file",
        keysFile,
        "must be a file of keys that can be read");
    check(!topic.isBlank(), PREFIX + "topic", topic, "must name a topic");
    check(
        lease.compareTo(MIN_LEASE) >= 0 && lease.compareTo(MAX_LEASE) <= 0,
        PREFIX + "lease",
        lease,
        "must be 1 s to 10 min");
    check(
        snapshotInterval.compareTo(MIN_LEASE) >= 0
            && snapshotInterval.compareTo(MAX_SNAPSHOT_INTERVAL) <= 0,
        PREFIX + "snapshot-interval",
        snapshotInterval,
        "must be 1 s to 24 h, and well below the time that the broker keeps messages");
  }

  public static JournalConfig defaults() {
    return new JournalConfig(null, null, null, null, null);
  }
}
