package org.traceetl.server;

import java.io.IOException;
import org.traceetl.common.Clocks;
import org.traceetl.common.ConfigException;
import org.traceetl.proto.RulesRecord;
import org.traceetl.server.assembly.DecisionsConfig;
import org.traceetl.server.binding.ServerConfig;
import org.traceetl.server.expose.SpanNaming;
import org.traceetl.server.features.backfill.LiveRules;
import org.traceetl.server.rules.PublishedRules;
import org.traceetl.server.rules.Rules;

/** What the servers of a configuration count by rules that they have published. */
public final class ServersOfRules {
  private static final String OPTION = "--rules";

  private ServersOfRules() {}

  /**
   * Returns access that is not started.
   *
   * @param config of the servers
   * @param platform clocks and brokers
   * @throws ConfigException if servers with it do not follow rules
   */
  public static LiveRules of(ServerConfig config, Rules rules, ServerPlatform platform) {
    DecisionsConfig decisions = config.feature(DecisionsConfig.class);
    ConfigException.check(
        decisions != null, "--until", "switch", "needs servers with a topic of decisions");
    RulesRecord own = PublishedRules.record(rules, 0);
    JournalAccess access = JournalAccess.of(config, platform, null);
    return new LiveRules(
        access.logs(),
        access.journals(),
        config.journal().snapshotInterval(),
        config.series().dimensions(),
        config.measures(),
        SpanNaming.form(config.histogram(), config.metrics().unit()),
        new SpanNaming(config.metrics(), config.series(), config.histogram()).stride(),
        () -> publishedMillis(access, config, decisions, own, platform.clocks()));
  }

  private static long publishedMillis(
      JournalAccess access,
      ServerConfig config,
      DecisionsConfig decisions,
      RulesRecord own,
      Clocks clocks)
      throws IOException, InterruptedException {
    RulesRecord inForce = RulesInForce.record(access.logs(), config, decisions, clocks);
    ConfigException.check(
        inForce.sameContent(own),
        OPTION,
        "revision " + own.epoch(),
        inForce.epoch() == 0
            ? "is not in force: servers follow no rules"
            : "is not in force: servers follow revision " + inForce.epoch() + " or other rules");
    return inForce.decidedMillis();
  }
}
