package org.traceetl.server;

import java.time.Duration;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;
import org.traceetl.common.Clocks;
import org.traceetl.server.binding.ServerConfig;
import org.traceetl.server.config.EdgesConfig;
import org.traceetl.server.config.JournalConfig;
import org.traceetl.server.config.MetricsConfig;
import org.traceetl.server.config.RocketMqConfig;
import org.traceetl.server.config.WindowConfig;
import org.traceetl.server.consume.queue.Aggregation;
import org.traceetl.server.decode.Messages;
import org.traceetl.server.journal.BrokerLogs;
import org.traceetl.server.journal.JournalCounters;
import org.traceetl.server.journal.JournalTiming;
import org.traceetl.server.journal.QueueImage;
import org.traceetl.server.journal.chain.JournalComponent;
import org.traceetl.server.journal.chain.LogJournals;
import org.traceetl.server.journal.log.AuthenticatedLogs;
import org.traceetl.server.journal.log.JournalKeys;
import org.traceetl.server.profile.ProfileParts;
import org.traceetl.server.telemetry.TargetInfo;

/**
 * The journal as a server with this configuration reads and writes it, and what defines its series.
 *
 * @param profile null for half-edges
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
            .measures(config.measures())
            .messages(Messages.of(config.rocketmq().messages()))
            .profile(profile.mapping())
            .deduplication(config.deduplication())
            .agents(config.agents())
            .targets(targets)
            .build();
    if (config.window().variances() == WindowConfig.Variances.OFF) {
      aggregation.refuseVariances();
    }
    return of(
        config,
        platform,
        profile,
        aggregation,
        config.rocketmq(),
        config.journal().topic(),
        profile.showsReceivedSpans()
            ? () -> aggregation.newImage().keepReceived()
            : aggregation::newImage);
  }

  /** Returns the access to the journal of half-edges with logs that are not started. */
  static JournalAccess ofEdges(ServerConfig config, ServerPlatform platform) {
    EdgesConfig edges = config.edges();
    var aggregation =
        Aggregation.builder(platform.random()::nextLong)
            .series(config.series())
            .histogram(config.histogram())
            .window(config.window())
            .unit(MetricsConfig.Unit.SECONDS)
            .deduplication(config.deduplication())
            .agents(config.agents())
            .edges(edges.maxOpen(), edges.maxWait(), edges.dimensions())
            .build();
    // All servers that read half-edges read panes.
    aggregation.panes(true);
    return of(
        config,
        platform,
        null,
        aggregation,
        edges.source(config.rocketmq()),
        edges.journalTopic(),
        aggregation::newImage);
  }

  private static JournalAccess of(
      ServerConfig config,
      ServerPlatform platform,
      ProfileParts profile,
      Aggregation aggregation,
      RocketMqConfig source,
      String topic,
      Supplier<QueueImage> newImage) {
    Clocks clocks = platform.clocks();
    JournalConfig journal = config.journal();
    JournalKeys keys =
        journal.keysFile() == null
            ? null
            : new JournalKeys(journal.keysFile(), journal.acceptUnsigned(), clocks.nanoClock());
    var counters = new JournalCounters();
    BrokerLogs logs = platform.brokers().logs(source, topic, TIMEOUT, clocks);
    var journals =
        new LogJournals(
            keys == null ? logs : new AuthenticatedLogs(logs, topic, keys, counters),
            source.topic(),
            source.consumerGroup(),
            newImage,
            new JournalTiming(
                clocks, platform.random(), journal.lease(), journal.snapshotInterval()),
            counters);
    return new JournalAccess(profile, aggregation, logs, keys, counters, journals);
  }

  /** Returns the journal as a component of a server. */
  JournalComponent component() {
    return new JournalComponent(logs, journals, counters);
  }
}
