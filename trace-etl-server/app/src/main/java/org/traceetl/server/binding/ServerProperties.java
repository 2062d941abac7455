package org.traceetl.server.binding;

import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.traceetl.common.Secret;
import org.traceetl.server.config.AgentsConfig;
import org.traceetl.server.config.DeduplicationConfig;
import org.traceetl.server.config.DocumentsConfig;
import org.traceetl.server.config.EdgesConfig;
import org.traceetl.server.config.EventsConfig;
import org.traceetl.server.config.HistogramConfig;
import org.traceetl.server.config.JournalConfig;
import org.traceetl.server.config.MeasureConfig;
import org.traceetl.server.config.MetricsConfig;
import org.traceetl.server.config.Profile;
import org.traceetl.server.config.RocketMqConfig;
import org.traceetl.server.config.SeriesConfig;
import org.traceetl.server.config.WebConfig;
import org.traceetl.server.config.WindowConfig;
import org.traceetl.server.journal.log.JournalKeys;

/**
 * The keys below {@code trace-etl} as they are written; null where one is missing.
 *
 * @param drainWithin time for sealing and storing at shutdown; above 0 to 10 min; 10 s more for
 *     closing the port
 */
record ServerProperties(
    RocketMq rocketmq,
    JournalConfig journal,
    WindowConfig window,
    SeriesConfig series,
    Histogram histogram,
    DocumentsConfig documents,
    MetricsConfig metrics,
    EventsConfig events,
    DeduplicationConfig deduplication,
    AgentsConfig agents,
    EdgesConfig edges,
    List<MeasureConfig> measures,
    Web web,
    Duration drainWithin) {

  /**
   * @param ofFeatures the keys of the features, by prefix
   * @param ofProfiles the keys that profiles have of their own, by profile
   * @throws ConfigurationRefused with everything that was refused
   */
  ServerConfig toConfig(
      Map<String, Record> ofFeatures, Map<String, Record> ofProfiles, Refusals refusals) {
    Profile profile = or(metrics, MetricsConfig.defaults()).profile();
    ServerConfig config =
        config(Features.configs(ofFeatures, profile, refusals), ofProfiles, refusals);
    refusals.throwIfAny();
    refusals.check(() ->
        MeasureConfig.checkBounds("trace-etl.measures", config.measures(), config.histogram()));
    // Also checked where it is used; here for --check-config.
    refusals.check(() -> profile.checkFiles(config.settings(profile)));
    if (config.journal().keysFile() != null) {
      refusals.check(
          () -> JournalKeys.check(config.journal().keysFile(), config.journal().acceptUnsigned()));
    }
    Features.checkFiles(config, refusals);
    refusals.throwIfAny();
    RulesFile.checkApplied(config);
    return config;
  }

  private ServerConfig config(
      Map<String, Record> ofFeatures, Map<String, Record> ofProfiles, Refusals refusals) {
    RocketMqConfig broker =
        rocketmq == null ? null : refusals.section("rocketmq", rocketmq::toConfig);
    HistogramConfig buckets =
        histogram == null ? null : refusals.section("histogram", () -> histogram.toConfig(metrics));
    WebConfig access = web == null ? null : refusals.section("web", web::toConfig);
    if (drainWithin != null) {
      refusals.check(() -> ServerConfig.checkDrain(drainWithin));
    }
    // What follows compares sections, and needs them all.
    refusals.throwIfAny();
    return refusals.of(() ->
        new ServerConfig(
            broker,
            journal,
            window,
            series,
            buckets,
            documents,
            metrics,
            ofFeatures,
            ofProfiles,
            events,
            deduplication,
            agents,
            edges,
            measures,
            access,
            drainWithin));
  }

  record Histogram(List<Double> boundsMillis, HistogramConfig.Kind kind, Integer nativeSchema) {
    HistogramConfig toConfig(MetricsConfig metrics) {
      MetricsConfig named = or(metrics, MetricsConfig.defaults());
      return new HistogramConfig(
          or(boundsMillis, named.profile().histogram().boundsMillis()), kind, nativeSchema);
    }
  }

  record RocketMq(
      String nameServer,
      String topic,
      String consumerGroup,
      String accessKey,
      Path accessKeyFile,
      String secretKey,
      Path secretKeyFile,
      Boolean tls,
      Path tlsCaFile,
      Integer workers,
      String messages) {
    private static final String PREFIX = "trace-etl.rocketmq.";

    private RocketMqConfig toConfig() {
      Secret access = Secret.of(PREFIX + "access-key", accessKey, accessKeyFile);
      return new RocketMqConfig(
          nameServer,
          topic,
          consumerGroup,
          access == null ? null : access.value(),
          Secret.of(PREFIX + "secret-key", secretKey, secretKeyFile),
          workers,
          tls,
          tlsCaFile,
          messages);
    }
  }

  record Web(
      String token,
      Path tokenFile,
      WebConfig.SignIn signIn,
      Path usersFile,
      Oidc oidc,
      Path accessFile,
      String traceUrl) {
    private WebConfig toConfig() {
      WebConfig config =
          new WebConfig(
              WebConfig.token(token, tokenFile),
              signIn,
              usersFile,
              oidc == null ? null : oidc.toConfig(),
              accessFile,
              traceUrl);
      if (usersFile != null) {
        // Also checked where it is used; here for --check-config.
        UsersFile.read(usersFile);
      }
      if (accessFile != null) {
        AccessFile.read(accessFile);
      }
      return config;
    }
  }

  record Oidc(
      URI issuer,
      String clientId,
      String clientSecret,
      Path clientSecretFile,
      List<String> scopes,
      String groupsClaim,
      Set<String> groups,
      Duration sessionLifetime) {
    private WebConfig.Oidc toConfig() {
      return new WebConfig.Oidc(
          issuer,
          clientId,
          Secret.of("trace-etl.web.oidc.client-secret", clientSecret, clientSecretFile),
          scopes,
          groupsClaim,
          groups,
          sessionLifetime);
    }
  }

  private static <T> T or(T value, T otherwise) {
    return value == null ? otherwise : value;
  }
}
