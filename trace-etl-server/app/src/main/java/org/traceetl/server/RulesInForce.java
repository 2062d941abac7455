package org.traceetl.server;

import java.io.IOException;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import org.traceetl.common.Clocks;
import org.traceetl.common.LogThrottle;
import org.traceetl.proto.RulesRecord;
import org.traceetl.server.assembly.Brokers;
import org.traceetl.server.assembly.DecisionsConfig;
import org.traceetl.server.binding.ServerConfig;
import org.traceetl.server.consume.retained.Patience;
import org.traceetl.server.decisions.PublishedRecord;
import org.traceetl.server.decisions.RoutingTopic;
import org.traceetl.server.features.rules.RulesConfig;
import org.traceetl.server.journal.BrokerLogs;
import org.traceetl.server.journal.NoAnswerException;
import org.traceetl.server.rules.PublishedRules;
import org.traceetl.server.rules.Rules;

/** The rules that the servers of a configuration follow, as a command reads them. */
final class RulesInForce {
  private static final Duration TIMEOUT = Duration.ofSeconds(3);

  private RulesInForce() {}

  /**
   * Returns the rules; null if no rules were published. An unknown topic has none, unless the
   * configuration names a file of rules, which servers publish there: then its broker is away.
   *
   * @param progress receives a line while name servers or brokers do not answer
   * @throws IOException if the topic of decisions cannot be read
   */
  static Rules read(ServerConfig config, Clocks clocks, PrintWriter progress)
      throws IOException, InterruptedException {
    DecisionsConfig decisions = config.feature(DecisionsConfig.class);
    if (decisions == null) {
      return null;
    }
    try (BrokerLogs logs =
        Brokers.ROCKETMQ.logs(config.rocketmq(), decisions.topic(), TIMEOUT, clocks)) {
      logs.start();
      boolean areFollowed = config.feature(RulesConfig.class).file() != null;
      RulesRecord record =
          new Patience(Patience.OF_COMMAND, clocks, progress)
              .await(() ->
                  areFollowed || logs.lowest(decisions.topic()) != null
                      ? record(logs, config, decisions, clocks)
                      : null);
      return record == null || record.epoch() == 0 ? null : PublishedRules.rules(record);
    }
  }

  /**
   * Returns the newest record, which all servers follow; of epoch 0 if no rules were published.
   *
   * @param logs started
   * @throws IOException if the topic of decisions cannot be read
   */
  static RulesRecord record(
      BrokerLogs logs, ServerConfig config, DecisionsConfig decisions, Clocks clocks)
      throws IOException, InterruptedException {
    PublishedRecord<RulesRecord> published =
        new PublishedRecord<>(
            decisions.topic(),
            RulesRecord.FORMAT,
            epoch -> new RulesRecord(epoch, epoch, Map.of()),
            new RoutingTopic(
                logs,
                decisions.topic(),
                config.rocketmq().topic(),
                decisions.signing(),
                Set::of,
                () -> false),
            clocks.wall(),
            clocks.nanoClock(),
            new LogThrottle(clocks.wall()),
            read -> {});
    if (!published.find()) {
      // As long as its broker is not registered, it looks as if it did not exist.
      throw new NoAnswerException(
          "Topic "
              + decisions.topic()
              + ", which has the rules of servers, is not known to name server "
              + config.rocketmq().nameServer(),
          null);
    }
    if (!published.read()) {
      throw new IOException("Topic " + decisions.topic() + " cannot be read");
    }
    return published.current();
  }
}
