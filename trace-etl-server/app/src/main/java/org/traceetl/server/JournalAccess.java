package org.traceetl.server;

import java.time.Duration;
import java.util.random.RandomGenerator;
import org.traceetl.common.Clocks;
import org.traceetl.server.binding.ServerConfig;
import org.traceetl.server.config.JournalConfig;
import org.traceetl.server.consume.queue.Aggregation;
import org.traceetl.server.decode.Messages;
import org.traceetl.server.journal.BrokerLogs;
import org.traceetl.server.journal.JournalCounters;
import org.traceetl.server.journal.JournalTiming;
import org.traceetl.server.journal.chain.LogJournals;
import org.traceetl.server.journal.log.AuthenticatedLogs;
import org.traceetl.server.journal.log.JournalKeys;
import org.traceetl.server.profile.ProfileParts;
import org.traceetl.server.telemetry.TargetInfo;

/**
 * The journal as a server with this configuration reads and writes it, and what defines its series.
 *
 * @param keys null if messages are not authenticated
 */
record JournalAccess(
    ProfileParts profile,
    Aggregation aggregation,
    BrokerLogs logs,
    JournalKeys keys,
    JournalCounters counters,
    LogJournals journals) {
  /** Timeout of journal calls. After it, the outcome of a call is unknown. */
  private static final Duration TIMEOUT = Duration.ofSeconds(3);

  /**
   * Returns the access with logs that are not started.
   *
   * @param targets where targets are shown; null for none
   */
  static JournalAccess of(ServerConfig config, ServerPlatform platform, TargetInfo targets) {
    Clocks clocks = platform.clocks();
    RandomGenerator random = platform.random();
    ProfileParts profile = ProfileParts.of(config);
    var aggregation =
        Aggregation.builder(random::nextLong)
            .series(config.series())
            .histogram(config.histogram())
            .documents(config.documents())
            .window(config.window())
            .unit(config.metrics().unit())
            .sizes(config.metrics().size())
            .messages(Messages.of(config.rocketmq().messages()))
            .profile(profile.mapping())
            .deduplication(config.deduplication())
            .agents(config.agents())
            .targets(targets)
            .build();
    JournalConfig journal = config.journal();
    JournalKeys keys =
        journal.keysFile() == null
            ? null
            : new JournalKeys(journal.keysFile(), journal.acceptUnsigned(), clocks.nanoClock());
    var counters = new JournalCounters();
    BrokerLogs logs = platform.brokers().logs(config.rocketmq(), journal.topic(), TIMEOUT, clocks);
    var journals =
        new LogJournals(
            keys == null ? logs : new AuthenticatedLogs(logs, journal.topic(), keys, counters),
            config.rocketmq().topic(),
            config.rocketmq().consumerGroup(),
            profile.showsReceivedSpans()
                ? () -> aggregation.newImage().keepReceived()
                : aggregation::newImage,
            new JournalTiming(clocks, random, journal.lease(), journal.snapshotInterval()),
            counters);
    return new JournalAccess(profile, aggregation, logs, keys, counters, journals);
  }
}
