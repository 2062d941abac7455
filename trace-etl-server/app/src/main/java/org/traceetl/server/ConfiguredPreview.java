package org.traceetl.server;

import java.io.IOException;
import java.io.PrintWriter;
import java.time.Duration;
import org.traceetl.common.Clocks;
import org.traceetl.common.ConfigException;
import org.traceetl.common.TlsRefused;
import org.traceetl.server.binding.ServerConfig;
import org.traceetl.server.decode.Messages;
import org.traceetl.server.features.preview.PreviewLimits;
import org.traceetl.server.features.preview.PreviewedRules;
import org.traceetl.server.features.preview.RulesComparison;
import org.traceetl.server.features.preview.RulesCost;
import org.traceetl.server.features.preview.RulesPreview;
import org.traceetl.server.rules.Rules;

/** Compares rules with those that servers of a configuration follow. */
final class ConfiguredPreview {
  private final ServerConfig config;
  private final PreviewLimits limits;
  private final Clocks clocks;

  ConfiguredPreview(ServerConfig config, PreviewLimits limits, Clocks clocks) {
    this.config = config;
    this.limits = limits;
    this.clocks = clocks;
  }

  /**
   * Compares what the series of an application cost by the rules in force and by others.
   *
   * @param inForce null if the configuration applies
   * @param since maximum age of a message
   * @param progress receives a line every few seconds
   * @throws ConfigException if the configuration does not allow the rules
   * @throws IOException if the topic cannot be read, or has no spans of the application
   * @throws TlsRefused if the topic cannot be read with TLS
   */
  RulesComparison compare(
      String application, Rules inForce, Rules proposed, Duration since, PrintWriter progress)
      throws IOException, InterruptedException {
    return new RulesPreview(
            application,
            inForce == null
                ? previewed(RulesCost.CONFIGURATION, config)
                : previewed(application, inForce),
            previewed(application, proposed),
            Messages.of(config.rocketmq().messages()),
            limits)
        .run(config.rocketmq(), since, clocks, new RenderedPage(clocks), progress);
  }

  private PreviewedRules previewed(String application, Rules rules) {
    return previewed(
        "revision " + rules.revision(), config.with(rules.of(application, config.rules())));
  }

  private PreviewedRules previewed(String name, ServerConfig of) {
    return new PreviewedRules(
        name, of.series(), of.metrics(), of.histogram(), of.measures(), config.histogram());
  }
}
