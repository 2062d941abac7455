package org.traceetl.server.features.index;

import co.elastic.clients.elasticsearch.ElasticsearchClient;
import co.elastic.clients.elasticsearch._types.ElasticsearchException;
import co.elastic.clients.elasticsearch._types.ErrorCause;
import co.elastic.clients.elasticsearch.core.BulkRequest;
import co.elastic.clients.elasticsearch.core.BulkResponse;
import co.elastic.clients.elasticsearch.core.SearchRequest;
import co.elastic.clients.elasticsearch.core.bulk.BulkResponseItem;
import co.elastic.clients.elasticsearch.core.search.Hit;
import co.elastic.clients.json.jackson.Jackson3JsonpMapper;
import co.elastic.clients.transport.TransportException;
import co.elastic.clients.transport.TransportUtils;
import co.elastic.clients.transport.rest5_client.Rest5ClientTransport;
import co.elastic.clients.transport.rest5_client.low_level.Rest5Client;
import co.elastic.clients.transport.rest5_client.low_level.Rest5ClientBuilder;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.apache.hc.core5.http.EntityDetails;
import org.apache.hc.core5.http.Header;
import org.apache.hc.core5.http.HttpHeaders;
import org.apache.hc.core5.http.HttpRequest;
import org.apache.hc.core5.http.message.BasicHeader;
import org.apache.hc.core5.http.protocol.HttpContext;
import org.apache.hc.core5.util.Timeout;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.traceetl.server.features.index.WriteResult.Refusal;
import org.traceetl.server.window.TraceDocument;
import tools.jackson.databind.JsonNode;

/**
 * Documents in an Elasticsearch cluster, in a given layout.
 *
 * <p>Documents are only created: an existing ID answers with a conflict, which here means stored.
 *
 * <p>The layout prepares the cluster before the first write, again after a write that finds the
 * prepared objects missing, and when the layout's key has changed.
 *
 * <p>Documents are searchable after the refresh interval, one second by default.
 */
final class ElasticsearchIndex implements TraceIndex {
  private static final Logger LOG = LoggerFactory.getLogger(ElasticsearchIndex.class);
  private static final String VERSIONED_JSON = "application/vnd.elasticsearch+json";
  private static final long MAX_CONNECT_MILLIS = 5_000;

  /** Errors with status 400 that are not caused by the document. */
  private static final Set<String> PASSING =
      Set.of("validation_exception", "index_closed_exception");

  private final ElasticsearchLayout layout;
  private final ElasticsearchClient client;
  private final String timeout;

  /** Key for which the cluster is prepared; null for none. Confined to the writing thread. */
  private String prepared;

  private volatile boolean healthy = true;

  private ElasticsearchIndex(
      ElasticsearchLayout layout, ElasticsearchClient client, Duration timeout) {
    this.layout = layout;
    this.client = client;
    this.timeout = timeout.toMillis() + "ms";
  }

  /**
   * Opens the client only: the cluster may be away.
   *
   * @throws IOException if the certificate of {@code ca-file} cannot be read
   */
  static ElasticsearchIndex open(IndexConfig.Elasticsearch config) throws IOException {
    return open(config, new DataStreamLayout(config));
  }

  static ElasticsearchIndex open(IndexConfig.Elasticsearch config, ElasticsearchLayout layout)
      throws IOException {
    Timeout timeout = Timeout.ofMilliseconds(config.requestTimeout().toMillis());
    Timeout connect =
        Timeout.ofMilliseconds(Math.min(MAX_CONNECT_MILLIS, config.requestTimeout().toMillis()));
    Rest5ClientBuilder rest =
        Rest5Client.builder(config.urls())
            .setConnectionConfigCallback(
                c -> c.setConnectTimeout(connect).setSocketTimeout(timeout))
            .setRequestConfigCallback(
                c -> c.setConnectionRequestTimeout(timeout).setResponseTimeout(timeout))
            .setDefaultHeaders(authorization(config));
    if (layout.olderCluster()) {
      rest.setHttpClientConfigCallback(
          c -> c.addRequestInterceptorLast(ElasticsearchIndex::speakPlainly));
    }
    if (config.caFile() != null) {
      try {
        rest.setSSLContext(TransportUtils.sslContextFromHttpCaCrt(config.caFile().toFile()));
      } catch (IOException | RuntimeException e) {
        throw new IOException(
            "index.elasticsearch.ca-file = " + config.caFile() + ": " + e.getMessage(), e);
      }
    }
    return new ElasticsearchIndex(
        layout,
        new ElasticsearchClient(new Rest5ClientTransport(rest.build(), new Jackson3JsonpMapper())),
        config.requestTimeout());
  }

  /**
   * Uses JSON's common media type. The client's default contains its version, which older clusters
   * refuse.
   */
  private static void speakPlainly(HttpRequest request, EntityDetails body, HttpContext context) {
    for (String name : List.of(HttpHeaders.ACCEPT, HttpHeaders.CONTENT_TYPE)) {
      Header header = request.getFirstHeader(name);
      if (header != null && header.getValue().startsWith(VERSIONED_JSON)) {
        request.setHeader(name, "application/json");
      }
    }
  }

  private static Header[] authorization(IndexConfig.Elasticsearch config) {
    if (config.apiKey() != null) {
      return new Header[] {
        new BasicHeader(HttpHeaders.AUTHORIZATION, "ApiKey " + config.apiKey().value(), true)
      };
    }
    if (config.username() != null) {
      byte[] pair =
          (config.username() + ":" + config.password().value()).getBytes(StandardCharsets.UTF_8);
      return new Header[] {
        new BasicHeader(
            HttpHeaders.AUTHORIZATION, "Basic " + Base64.getEncoder().encodeToString(pair), true)
      };
    }
    return new Header[0];
  }

  @Override
  public WriteResult write(List<TraceDocument> documents) throws IOException {
    Map<Boolean, List<TraceDocument>> taken =
        documents.stream().collect(Collectors.partitioningBy(layout::takes));
    WriteResult result = taken.get(true).isEmpty() ? WriteResult.kept(0) : send(taken.get(true));
    List<Refusal> refused =
        taken.get(false).stream()
            .map(document -> new Refusal(document, "layout", document.reason().label()))
            .toList();
    return refused.isEmpty() ? result : result.and(new WriteResult(0, refused, List.of()));
  }

  private WriteResult send(List<TraceDocument> documents) throws IOException {
    boolean taken = false;
    try {
      String now = layout.preparedFor();
      if (!now.equals(prepared)) {
        layout.prepare(client);
        prepared = now;
      }
      WriteResult result = bulk(documents);
      taken = result.again().isEmpty();
      return result;
    } catch (ElasticsearchException e) {
      throw refused(e);
    } finally {
      healthy = taken;
    }
  }

  private WriteResult bulk(List<TraceDocument> documents) throws IOException {
    BulkResponse response;
    try {
      response = client.bulk(bulkRequest(documents));
    } catch (ElasticsearchException e) {
      if (e.status() == 413) {
        return tooLarge(documents);
      }
      throw e;
    } catch (TransportException e) {
      // A proxy may answer with this status without a body that the client can read.
      if (e.statusCode() == 413) {
        return tooLarge(documents);
      }
      throw e;
    }
    List<Refusal> refused = new ArrayList<>();
    List<TraceDocument> again = new ArrayList<>();
    for (int i = 0; i < documents.size(); i++) {
      sort(documents.get(i), response.items().get(i), refused, again);
    }
    return new WriteResult(documents.size() - refused.size() - again.size(), refused, again);
  }

  private BulkRequest bulkRequest(List<TraceDocument> documents) {
    return BulkRequest.of(b -> {
      layout.address(b);
      return b.timeout(t -> t.time(timeout))
          .operations(documents.stream().map(layout::create).toList());
    });
  }

  private WriteResult tooLarge(List<TraceDocument> documents) throws IOException {
    if (documents.size() == 1) {
      return new WriteResult(
          0, List.of(new Refusal(documents.getFirst(), "too_large", "413")), List.of());
    }
    int half = documents.size() / 2;
    WriteResult first = bulk(documents.subList(0, half));
    WriteResult second = bulk(documents.subList(half, documents.size()));
    return first.and(second);
  }

  private void sort(
      TraceDocument document,
      BulkResponseItem item,
      List<Refusal> refused,
      List<TraceDocument> again) {
    ErrorCause error = item.error();
    if (error == null || item.status() == 409) {
      return;
    }
    if (item.status() == 400 && !PASSING.contains(error.type())) {
      refused.add(new Refusal(document, "mapping", types(error)));
      return;
    }
    if (item.status() == 404) {
      prepared = null;
    }
    again.add(document);
  }

  /** Returns the types of an error and its causes; their texts would quote the document. */
  private static String types(ErrorCause error) {
    return error.causedBy() == null ? error.type() : error.type() + ": " + types(error.causedBy());
  }

  @Override
  public TracePage search(TraceQuery query) throws IOException {
    List<Hit<JsonNode>> hits;
    boolean answered = false;
    try {
      hits = client.search(searchRequest(query), JsonNode.class).hits().hits();
      answered = true;
    } catch (ElasticsearchException e) {
      throw refused(e);
    } finally {
      healthy = answered;
    }
    return layout.page(query, hits);
  }

  private SearchRequest searchRequest(TraceQuery query) {
    return SearchRequest.of(s -> {
      // Nothing to search before the first document.
      s.ignoreUnavailable(true)
          .allowPartialSearchResults(false)
          .trackTotalHits(t -> t.enabled(false))
          .timeout(timeout);
      layout.ask(s, query);
      return s;
    });
  }

  private static IOException refused(ElasticsearchException e) {
    return new IOException(
        "Elasticsearch answered " + e.status() + " " + e.error().type() + " to " + e.endpointId(),
        e);
  }

  @Override
  public boolean healthy() {
    return healthy;
  }

  @Override
  public void close() {
    try {
      client.close();
    } catch (IOException e) {
      LOG.warn("Failed to close the Elasticsearch client", e);
    }
  }
}
