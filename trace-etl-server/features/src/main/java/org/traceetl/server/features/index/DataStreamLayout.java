package org.traceetl.server.features.index;

import co.elastic.clients.elasticsearch.ElasticsearchClient;
import co.elastic.clients.elasticsearch._types.ElasticsearchException;
import co.elastic.clients.elasticsearch._types.FieldValue;
import co.elastic.clients.elasticsearch._types.SortOptions;
import co.elastic.clients.elasticsearch._types.SortOrder;
import co.elastic.clients.elasticsearch._types.query_dsl.Query;
import co.elastic.clients.elasticsearch.core.BulkRequest;
import co.elastic.clients.elasticsearch.core.SearchRequest;
import co.elastic.clients.elasticsearch.core.bulk.BulkOperation;
import co.elastic.clients.elasticsearch.core.search.Hit;
import co.elastic.clients.transport.TransportException;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.traceetl.server.window.TraceDocument;
import tools.jackson.databind.JsonNode;

/**
 * Documents in a data stream.
 *
 * <p>A data stream accepts only {@code create}: an ID that its write index already contains answers
 * with a conflict. After a rollover the same ID may enter once more; equal documents are adjacent
 * in the order of results, and a page leaves out the second.
 *
 * <p>A changed mapping applies from the data stream's next backing index.
 */
final class DataStreamLayout implements ElasticsearchLayout {
  private static final Logger LOG = LoggerFactory.getLogger(DataStreamLayout.class);
  private static final String TEMPLATE = "index-template.json";

  private final IndexConfig.Elasticsearch config;

  DataStreamLayout(IndexConfig.Elasticsearch config) {
    this.config = config;
  }

  @Override
  public void prepare(ElasticsearchClient client) throws IOException {
    client
        .indices()
        .putIndexTemplate(t ->
            t.name(config.dataStream())
                .indexPatterns(config.dataStream())
                .priority(TEMPLATE_PRIORITY)
                .dataStream(d -> d)
                .template(m -> {
                  try (InputStream template =
                      DataStreamLayout.class.getResourceAsStream(TEMPLATE)) {
                    return m.withJson(template)
                        .lifecycle(l -> l.dataRetention(d -> d.time(retention())));
                  } catch (IOException e) {
                    throw new UncheckedIOException(e);
                  }
                }));
    // The template's retention applies to a new data stream, this call to an existing one.
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
        "Elasticsearch did not take the retention of {} for data stream {}; an existing data"
            + " stream keeps its retention: {}",
        retention(),
        config.dataStream(),
        e.getMessage());
  }

  private String retention() {
    return config.retention().toDays() + "d";
  }

  @Override
  public boolean takes(TraceDocument document) {
    return true;
  }

  @Override
  public BulkOperation create(TraceDocument document) {
    return BulkOperation.of(o ->
        o.create(
            c -> c.id(Documents.id(document)).document(ElasticsearchDocument.toJson(document))));
  }

  @Override
  public void address(BulkRequest.Builder request) {
    request.index(config.dataStream()).requireDataStream(true);
  }

  @Override
  public void ask(SearchRequest.Builder request, TraceQuery query) {
    request
        .index(config.dataStream())
        .size(query.limit() + 1)
        .query(q -> q.bool(b -> b.filter(filters(query))))
        .sort(
            sort(ElasticsearchDocument.START, SortOrder.Desc),
            sort(ElasticsearchDocument.TRACE_ID, SortOrder.Asc),
            sort(ElasticsearchDocument.SPAN_ID, SortOrder.Asc));
    Cursor cursor = query.cursor();
    if (cursor != null) {
      request.searchAfter(
          FieldValue.of(ElasticsearchDocument.timestamp(cursor.startUnixNanos())),
          FieldValue.of(cursor.traceId()),
          FieldValue.of(cursor.spanId()));
    }
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
    ElasticsearchLayout.term(filters, ElasticsearchDocument.APPLICATION, query.application());
    ElasticsearchLayout.anyOf(filters, ElasticsearchDocument.APPLICATION, query.visible());
    ElasticsearchLayout.term(filters, ElasticsearchDocument.OPERATION, query.operation());
    ElasticsearchLayout.term(
        filters,
        ElasticsearchDocument.REASON,
        query.reason() == null ? null : query.reason().label());
    return filters;
  }

  @Override
  public TracePage page(TraceQuery query, List<Hit<JsonNode>> hits) {
    Map<String, TraceDocument> page = new LinkedHashMap<>();
    TraceDocument last = null;
    for (Hit<JsonNode> hit : hits.subList(0, Math.min(hits.size(), query.limit()))) {
      last = ElasticsearchDocument.fromJson(hit.source());
      page.putIfAbsent(hit.id(), last);
    }
    return new TracePage(
        List.copyOf(page.values()), hits.size() > query.limit() ? Cursor.of(last) : null);
  }
}
