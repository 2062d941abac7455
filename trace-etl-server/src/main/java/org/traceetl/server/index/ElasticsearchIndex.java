package org.traceetl.server.index;

import co.elastic.clients.elasticsearch.ElasticsearchClient;
import co.elastic.clients.elasticsearch._types.ElasticsearchException;
import co.elastic.clients.elasticsearch._types.ErrorCause;
import co.elastic.clients.elasticsearch._types.FieldValue;
import co.elastic.clients.elasticsearch._types.SortOptions;
import co.elastic.clients.elasticsearch._types.SortOrder;
import co.elastic.clients.elasticsearch._types.query_dsl.Query;
import co.elastic.clients.elasticsearch.core.BulkRequest;
import co.elastic.clients.elasticsearch.core.BulkResponse;
import co.elastic.clients.elasticsearch.core.SearchRequest;
import co.elastic.clients.elasticsearch.core.bulk.BulkOperation;
import co.elastic.clients.elasticsearch.core.bulk.BulkResponseItem;
import co.elastic.clients.elasticsearch.core.search.Hit;
import co.elastic.clients.json.jackson.Jackson3JsonpMapper;
import co.elastic.clients.transport.TransportException;
import co.elastic.clients.transport.TransportUtils;
import co.elastic.clients.transport.rest5_client.Rest5ClientTransport;
import co.elastic.clients.transport.rest5_client.low_level.Rest5Client;
import co.elastic.clients.transport.rest5_client.low_level.Rest5ClientBuilder;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.hc.core5.http.Header;
import org.apache.hc.core5.http.HttpHeaders;
import org.apache.hc.core5.http.message.BasicHeader;
import org.apache.hc.core5.util.Timeout;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.traceetl.server.config.IndexConfig;
import org.traceetl.server.index.WriteResult.Refusal;
import org.traceetl.server.window.TraceDocument;
import tools.jackson.databind.JsonNode;

/**
 * Documents in a data stream of an Elasticsearch cluster.
 *
 * <p>A data stream takes {@code create} only: an ID that its write index has already answers with a
 * conflict, which here means kept. After a rollover the same ID may enter once more; equal
 * documents are neighbours in the order of results, and a search leaves out the second.
 *
 * <p>The index template is put before the first write, and again after a write that found it gone.
 * A mapping that changed applies from the data stream's next backing index.
 *
 * <p>Documents are searchable after the refresh interval, one second unless the cluster says
 * otherwise.
 */
final class ElasticsearchIndex implements TraceIndex {
  private static final Logger LOG = LoggerFactory.getLogger(ElasticsearchIndex.class);
  private static final String TEMPLATE = "index-template.json";

  /** Above those that come with Elasticsearch (100 to 200). */
  private static final long TEMPLATE_PRIORITY = 500;

  private static final long MAX_CONNECT_MILLIS = 5_000;

  /** What a cluster answers with status 400 although nothing is wrong with the document. */
  private static final Set<String> PASSING =
      Set.of("validation_exception", "index_closed_exception");

  private final IndexConfig.Elasticsearch config;
  private final ElasticsearchClient client;
  private final String timeout;

  /** Only the writing thread asks and sets it. */
  private boolean prepared;

  private volatile boolean healthy = true;

  private ElasticsearchIndex(IndexConfig.Elasticsearch config, ElasticsearchClient client) {
    this.config = config;
    this.client = client;
    this.timeout = config.requestTimeout().toMillis() + "ms";
  }

  /**
   * The client alone: the cluster may be away.
   *
   * @throws IOException if the certificate of {@code ca-file} cannot be read
   */
  static ElasticsearchIndex open(IndexConfig.Elasticsearch config) throws IOException {
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
    if (config.caFile() != null) {
      try {
        rest.setSSLContext(TransportUtils.sslContextFromHttpCaCrt(config.caFile().toFile()));
      } catch (IOException | RuntimeException e) {
        throw new IOException(
            "index.elasticsearch.ca-file = " + config.caFile() + ": " + e.getMessage(), e);
      }
    }
    return new ElasticsearchIndex(
        config,
        new ElasticsearchClient(new Rest5ClientTransport(rest.build(), new Jackson3JsonpMapper())));
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
    if (documents.isEmpty()) {
      return WriteResult.kept(0);
    }
    boolean taken = false;
    try {
      if (!prepared) {
        prepare();
        prepared = true;
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

  private void prepare() throws IOException {
    client
        .indices()
        .putIndexTemplate(t ->
            t.name(config.dataStream())
                .indexPatterns(config.dataStream())
                .priority(TEMPLATE_PRIORITY)
                .dataStream(d -> d)
                .template(m -> {
                  try (InputStream template =
                      ElasticsearchIndex.class.getResourceAsStream(TEMPLATE)) {
                    return m.withJson(template)
                        .lifecycle(l -> l.dataRetention(d -> d.time(retention())));
                  } catch (IOException e) {
                    throw new java.io.UncheckedIOException(e);
                  }
                }));
    // The template's retention is for a data stream to come; this is for one that is there.
    try {
      client
          .indices()
          .putDataLifecycle(
              l -> l.name(config.dataStream()).dataRetention(d -> d.time(retention())));
    } catch (ElasticsearchException e) {
      if (e.status() != 404) {
        retentionRefused(e);
      }
    } catch (TransportException e) {
      if (e.statusCode() < 400) {
        throw e;
      }
      retentionRefused(e);
    }
  }

  private void retentionRefused(Exception e) {
    LOG.warn(
        "Elasticsearch did not take the retention of {} for the data stream {}; one that is there"
            + " keeps the retention it has: {}",
        retention(),
        config.dataStream(),
        e.getMessage());
  }

  private String retention() {
    return config.retention().toDays() + "d";
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
      // A proxy in between says so without a body that the client could read.
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
    List<BulkOperation> operations = new ArrayList<>(documents.size());
    for (TraceDocument document : documents) {
      operations.add(
          BulkOperation.of(o ->
              o.create(c ->
                  c.id(Documents.id(document)).document(ElasticsearchDocument.toJson(document)))));
    }
    return BulkRequest.of(b ->
        b.index(config.dataStream())
            .requireDataStream(true)
            .timeout(t -> t.time(timeout))
            .operations(operations));
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
      prepared = false;
    }
    again.add(document);
  }

  /** The kinds of an error and its causes; their texts quote the document. */
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
    Map<String, TraceDocument> page = new LinkedHashMap<>();
    TraceDocument last = null;
    for (Hit<JsonNode> hit : hits.subList(0, Math.min(hits.size(), query.limit()))) {
      last = ElasticsearchDocument.fromJson(hit.source());
      page.putIfAbsent(hit.id(), last);
    }
    return new TracePage(
        List.copyOf(page.values()), hits.size() > query.limit() ? Cursor.of(last) : null);
  }

  private SearchRequest searchRequest(TraceQuery query) {
    return SearchRequest.of(s -> {
      s.index(config.dataStream())
          // Before the first document there is no data stream.
          .ignoreUnavailable(true)
          .allowPartialSearchResults(false)
          .trackTotalHits(t -> t.enabled(false))
          .timeout(timeout)
          .size(query.limit() + 1)
          .query(q -> q.bool(b -> b.filter(filters(query))))
          .sort(
              sort(ElasticsearchDocument.START, SortOrder.Desc),
              sort(ElasticsearchDocument.TRACE_ID, SortOrder.Asc),
              sort(ElasticsearchDocument.SPAN_ID, SortOrder.Asc));
      Cursor cursor = query.cursor();
      if (cursor != null) {
        s.searchAfter(
            FieldValue.of(ElasticsearchDocument.timestamp(cursor.startUnixNanos())),
            FieldValue.of(cursor.traceId()),
            FieldValue.of(cursor.spanId()));
      }
      return s;
    });
  }

  private static SortOptions sort(String field, SortOrder order) {
    return SortOptions.of(s ->
        s.field(f -> {
          f.field(field).order(order);
          return field.equals(ElasticsearchDocument.START)
              ? f.format("strict_date_optional_time_nanos")
              : f;
        }));
  }

  private static List<Query> filters(TraceQuery query) {
    List<Query> filters = new ArrayList<>();
    filters.add(
        Query.of(q ->
            q.range(r ->
                r.date(d -> {
                  d.field(ElasticsearchDocument.START)
                      .gte(ElasticsearchDocument.timestamp(query.fromUnixNanos()));
                  return query.toUnixNanos() == Long.MAX_VALUE
                      ? d
                      : d.lt(ElasticsearchDocument.timestamp(query.toUnixNanos()));
                }))));
    term(filters, ElasticsearchDocument.APPLICATION, query.application());
    term(filters, ElasticsearchDocument.OPERATION, query.operation());
    term(
        filters,
        ElasticsearchDocument.REASON,
        query.reason() == null ? null : query.reason().label());
    return filters;
  }

  private static void term(List<Query> filters, String field, String value) {
    if (value != null) {
      String wellFormed = Documents.wellFormed(value);
      filters.add(Query.of(q -> q.term(t -> t.field(field).value(wellFormed))));
    }
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
      LOG.warn("The Elasticsearch client did not close cleanly", e);
    }
  }
}
