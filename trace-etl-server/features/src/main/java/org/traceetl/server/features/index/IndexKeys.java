package org.traceetl.server.features.index;

import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.time.ZoneId;
import java.util.List;
import org.traceetl.common.Secret;
import org.traceetl.server.config.Profile;

/** The keys below {@code trace-etl.index} as they are written; null where one is missing. */
record IndexKeys(
    IndexConfig.Type type, Integer batchDocuments, Elasticsearch elasticsearch, Lucene lucene) {

  IndexConfig toConfig(Profile profile) {
    IndexConfig defaults = IndexConfig.defaults();
    return new IndexConfig(
        or(type, defaults.type()),
        or(batchDocuments, defaults.batchDocuments()),
        (elasticsearch == null ? Elasticsearch.NONE : elasticsearch).toConfig(profile),
        lucene == null ? defaults.lucene() : lucene.toConfig());
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
          Secret.of("index.elasticsearch.password", password, passwordFile),
          Secret.of("index.elasticsearch.api-key", apiKey, apiKeyFile),
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

  private static <T> T or(T value, T otherwise) {
    return value == null ? otherwise : value;
  }
}
