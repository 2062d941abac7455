package org.traceetl.server.binding;

import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.time.ZoneId;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.traceetl.server.config.DeduplicationConfig;
import org.traceetl.server.config.DocumentsConfig;
import org.traceetl.server.config.EventsConfig;
import org.traceetl.server.config.HistogramConfig;
import org.traceetl.server.config.IndexConfig;
import org.traceetl.server.config.JournalConfig;
import org.traceetl.server.config.MetricsConfig;
import org.traceetl.server.config.Profile;
import org.traceetl.server.config.RocketMqConfig;
import org.traceetl.server.config.Secret;
import org.traceetl.server.config.SeriesConfig;
import org.traceetl.server.config.WebConfig;
import org.traceetl.server.config.WindowConfig;
import org.traceetl.server.decisions.SignedLog;
import org.traceetl.server.features.discovery.DiscoveryConfig;
import org.traceetl.server.features.history.HistoryConfig;
import org.traceetl.server.features.hotspot.HotspotsConfig;
import org.traceetl.server.journal.JournalKeys;

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
    Index index,
    HistoryConfig history,
    HotspotsConfig hotspots,
    EventsConfig events,
    DeduplicationConfig deduplication,
    DiscoveryConfig discovery,
    Web web,
    Duration drainWithin) {

  /**
   * @param ofProfiles the keys that profiles have of their own, by profile
   */
  ServerConfig toConfig(Map<String, Record> ofProfiles) {
    ServerConfig config = config(ofProfiles);
    // Also checked where it is used; here for --check-config.
    Profile profile = config.metrics().profile();
    profile.checkFiles(config.settings(profile));
    if (config.journal().keysFile() != null) {
      JournalKeys.check(config.journal().keysFile(), config.journal().acceptUnsigned());
    }
    SignedLog.check(config.hotspots().signing(), config.hotspots().topic());
    return config;
  }

  private ServerConfig config(Map<String, Record> ofProfiles) {
    return new ServerConfig(
        rocketmq == null ? null : rocketmq.toConfig(),
        journal,
        window,
        series,
        histogram == null ? null : histogram.toConfig(metrics),
        documents,
        metrics,
        index == null ? null : index.toConfig(metrics),
        history,
        hotspots,
        ofProfiles,
        events,
        deduplication,
        discovery,
        web == null ? null : web.toConfig(),
        drainWithin);
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
      Secret access = secret(PREFIX + "access-key", accessKey, accessKeyFile);
      return new RocketMqConfig(
          nameServer,
          topic,
          consumerGroup,
          access == null ? null : access.value(),
          secret(PREFIX + "secret-key", secretKey, secretKeyFile),
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
      String traceUrl) {
    private WebConfig toConfig() {
      WebConfig config =
          new WebConfig(
              WebConfig.token(token, tokenFile),
              signIn,
              usersFile,
              oidc == null ? null : oidc.toConfig(),
              traceUrl);
      if (usersFile != null) {
        // Also checked where it is used; here for --check-config.
        UsersFile.read(usersFile);
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
          secret("trace-etl.web.oidc.client-secret", clientSecret, clientSecretFile),
          scopes,
          groupsClaim,
          groups,
          sessionLifetime);
    }
  }

  record Index(
      IndexConfig.Type type, Integer batchDocuments, Elasticsearch elasticsearch, Lucene lucene) {

    IndexConfig toConfig(MetricsConfig metrics) {
      IndexConfig defaults = IndexConfig.defaults();
      return new IndexConfig(
          or(type, defaults.type()),
          or(batchDocuments, defaults.batchDocuments()),
          (elasticsearch == null ? Elasticsearch.NONE : elasticsearch)
              .toConfig(or(metrics, MetricsConfig.defaults()).profile()),
          lucene == null ? defaults.lucene() : lucene.toConfig());
    }
  }

  record Elasticsearch(
      List<URI> urls,
      String dataStream,
      Duration retention,
      Duration requestTimeout,
      String username,
      String password,
      Path passwordFile,
      String apiKey,
      Path apiKeyFile,
      Path caFile,
      String layout,
      String indexPrefix,
      String domain,
      ZoneId timeZone) {
    private static final Elasticsearch NONE =
        new Elasticsearch(
            null, null, null, null, null, null, null, null, null, null, null, null, null, null);

    private IndexConfig.Elasticsearch toConfig(Profile profile) {
      IndexConfig.Elasticsearch defaults = IndexConfig.defaults().elasticsearch();
      return new IndexConfig.Elasticsearch(
          or(urls, defaults.urls()),
          or(dataStream, defaults.dataStream()),
          or(retention, defaults.retention()),
          or(requestTimeout, defaults.requestTimeout()),
          username,
          secret("index.elasticsearch.password", password, passwordFile),
          secret("index.elasticsearch.api-key", apiKey, apiKeyFile),
          caFile,
          or(layout, profile.layout()),
          or(indexPrefix, defaults.indexPrefix()),
          or(domain, defaults.domain()),
          or(timeZone, defaults.timeZone()));
    }
  }

  record Lucene(Path directory, Duration retention, Integer maxDocuments) {
    private IndexConfig.Lucene toConfig() {
      IndexConfig.Lucene defaults = IndexConfig.defaults().lucene();
      return new IndexConfig.Lucene(
          or(directory, defaults.directory()),
          or(retention, defaults.retention()),
          or(maxDocuments, defaults.maxDocuments()));
    }
  }

  private static Secret secret(String key, String value, Path file) {
    if (file == null) {
      return value == null ? null : new Secret(value);
    }
    String name = key + "-file = " + file;
    if (value != null) {
      throw new IllegalArgumentException(name + ": must be absent if " + key + " is configured");
    }
    try {
      return Secret.fromFile(file);
    } catch (IOException e) {
      throw new IllegalArgumentException(
          name + ": must be a readable file that contains it: " + e.getMessage(), e);
    }
  }

  private static <T> T or(T value, T otherwise) {
    return value == null ? otherwise : value;
  }
}
