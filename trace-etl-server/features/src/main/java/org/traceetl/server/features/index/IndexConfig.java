package org.traceetl.server.features.index;

import static org.traceetl.common.ConfigException.canonical;

import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.List;
import org.traceetl.common.Secret;
import org.traceetl.server.config.Profile;

/**
 * The index of slow and failed spans: {@code index.*}.
 *
 * @param type where documents are stored; {@code none}: {@code /api/traces} finds nothing
 * @param batchDocuments documents per write; 1 to 10000
 */
public record IndexConfig(
    Type type, int batchDocuments, Elasticsearch elasticsearch, Lucene lucene) {

  /** Which store. */
  public enum Type {
    NONE,
    LUCENE,
    ELASTICSEARCH
  }

  /** Returns a configuration without an index, with default values for all other keys. */
  public static IndexConfig defaults() {
    return new IndexConfig(
        Type.NONE,
        1_000,
        Elasticsearch.at(List.of(URI.create("http://localhost:9200"))),
        Lucene.in(Path.of("data", "index")));
  }

  /** Returns the defaults with documents in Elasticsearch. */
  public static IndexConfig of(Elasticsearch elasticsearch) {
    IndexConfig d = defaults();
    return new IndexConfig(Type.ELASTICSEARCH, d.batchDocuments, elasticsearch, d.lucene);
  }

  /** Returns the defaults with documents in Lucene. */
  public static IndexConfig of(Lucene lucene) {
    IndexConfig d = defaults();
    return new IndexConfig(Type.LUCENE, d.batchDocuments, d.elasticsearch, lucene);
  }

  /**
   * @throws IllegalArgumentException with the key and its value
   */
  public IndexConfig {
    require(
        batchDocuments > 0 && batchDocuments <= 10_000,
        "index.batch-documents",
        batchDocuments,
        "must be between 1 and 10000");
  }

  private static void require(boolean holds, String key, Object value, String rule) {
    if (!holds) {
      throw new IllegalArgumentException(key + " = " + value + ": " + rule);
    }
  }

  /**
   * The Elasticsearch cluster: {@code index.elasticsearch.*}.
   *
   * @param urls nodes as {@code http(s)://host:port}, without a user
   * @param dataStream lower-case name of the data stream and of its index template
   * @param retention how long documents are kept, in whole days. A daily index is deleted this long
   *     and two days after its creation
   * @param requestTimeout longest wait for an answer
   * @param username user for basic authentication, with {@code password}
   * @param password password of that user
   * @param apiKey API key in Base64 as Elasticsearch issued it, in place of user and password
   * @param caFile PEM file of the certificate to trust; none: those of the JDK
   * @param layout {@code data-stream}, or the layout of daily indices that a profile brings,
   *     without exemplars; default: the layout of the profile
   * @param indexPrefix daily indices: start of the index names, followed by the day; without its
   *     hyphen it is their alias
   * @param domain daily indices: field {@code domain} of all documents
   * @param timeZone daily indices: zone of the days, such as {@code Asia/Shanghai}; the same on all
   *     servers
   */
  public record Elasticsearch(
      List<URI> urls,
      String dataStream,
      Duration retention,
      Duration requestTimeout,
      String username,
      Secret password,
      Secret apiKey,
      Path caFile,
      String layout,
      String indexPrefix,
      String domain,
      ZoneId timeZone) {

    /** A layout: a data stream with the fields of {@code /api/traces}. */
    public static final String DATA_STREAM = Profile.DATA_STREAM;

    /** Returns a cluster without authentication, with default values for all other keys. */
    public static Elasticsearch at(List<URI> urls) {
      return new Elasticsearch(
          urls,
          "trace-etl-traces",
          Duration.ofDays(7),
          Duration.ofSeconds(30),
          null,
          null,
          null,
          null);
    }

    /** Returns a configuration of documents in a data stream. */
    public Elasticsearch(
        List<URI> urls,
        String dataStream,
        Duration retention,
        Duration requestTimeout,
        String username,
        Secret password,
        Secret apiKey,
        Path caFile) {
      this(
          urls,
          dataStream,
          retention,
          requestTimeout,
          username,
          password,
          apiKey,
          caFile,
          DATA_STREAM,
          "zgq_common_staging_private_prometheus-",
          "hera",
          ZoneOffset.UTC);
    }

    /**
     * @throws IllegalArgumentException with the key and its value
     */
    public Elasticsearch {
      urls = List.copyOf(urls);
      layout = canonical(layout);
      require(!urls.isEmpty(), "index.elasticsearch.urls", urls, "must contain at least one node");
      for (URI url : urls) {
        // Checked before anything prints it.
        require(
            url.getUserInfo() == null,
            "index.elasticsearch.urls",
            url.getScheme() + "://***@" + url.getHost(),
            "must not contain a user; configure username and password-file");
        require(
            ("http".equals(url.getScheme()) || "https".equals(url.getScheme()))
                && url.getHost() != null
                && (url.getPath().isEmpty() || url.getPath().equals("/")),
            "index.elasticsearch.urls",
            url,
            "must be http://host:port or https://host:port");
      }
      require(
          dataStream.matches("[a-z0-9][a-z0-9._-]{0,199}"),
          "index.elasticsearch.data-stream",
          dataStream,
          "must be lower-case letters, digits, dots, hyphens and underscores");
      require(
          indexPrefix.matches("[a-z0-9][a-z0-9._-]{0,199}"),
          "index.elasticsearch.index-prefix",
          indexPrefix,
          "must be lower-case letters, digits, dots, hyphens and underscores");
      require(
          retention.toDays() > 0,
          "index.elasticsearch.retention",
          retention,
          "must be at least one day");
      require(
          requestTimeout.toMillis() > 0,
          "index.elasticsearch.request-timeout",
          requestTimeout,
          "must be positive");
      require(
          (username == null) == (password == null),
          "index.elasticsearch.username",
          username,
          "must be configured together with password or password-file");
      require(
          username == null || apiKey == null,
          "index.elasticsearch.username",
          username,
          "must be absent if an api-key is configured");
    }
  }

  /**
   * The embedded index: {@code index.lucene.*}.
   *
   * @param directory directory of the index; one process at a time
   * @param retention older documents are deleted
   * @param maxDocuments above it, the oldest documents are deleted
   */
  public record Lucene(Path directory, Duration retention, int maxDocuments) {
    /** Returns an index in the directory, with default values for all other keys. */
    public static Lucene in(Path directory) {
      return new Lucene(directory, Duration.ofDays(7), 1_000_000);
    }

    /**
     * @throws IllegalArgumentException with the key and its value
     */
    public Lucene {
      require(retention.isPositive(), "index.lucene.retention", retention, "must be positive");
      require(maxDocuments > 0, "index.lucene.max-documents", maxDocuments, "must be positive");
    }
  }
}
