package org.traceetl.server.features.index;

import co.elastic.clients.elasticsearch.ElasticsearchClient;
import co.elastic.clients.elasticsearch._types.query_dsl.Query;
import co.elastic.clients.elasticsearch.core.BulkRequest;
import co.elastic.clients.elasticsearch.core.SearchRequest;
import co.elastic.clients.elasticsearch.core.bulk.BulkOperation;
import co.elastic.clients.elasticsearch.core.search.Hit;
import java.io.IOException;
import java.util.List;
import org.traceetl.server.window.TraceDocument;
import tools.jackson.databind.JsonNode;

/** The layout of documents in Elasticsearch: indices, fields, retention. */
public interface ElasticsearchLayout {
  /** Priority of index templates, above the built-in ones (100 to 200). */
  long TEMPLATE_PRIORITY = 500;

  /** Returns the layout of a data stream with the fields of {@code /api/traces}. */
  static ElasticsearchLayout dataStream(IndexConfig.Elasticsearch config) {
    return new DataStreamLayout(config);
  }

  /** Adds the condition that the field equals the value, unless it is null. */
  static void term(List<Query> filters, String field, String value) {
    if (value != null) {
      String wellFormed = Documents.wellFormed(value);
      filters.add(Query.of(q -> q.term(t -> t.field(field).value(wellFormed))));
    }
  }

  /**
   * Adds the condition that the field matches one of the patterns, unless they are null.
   *
   * @param patterns texts with {@code *} for any text
   */
  static void anyOf(List<Query> filters, String field, List<String> patterns) {
    if (patterns != null) {
      List<Query> either =
          patterns.stream()
              .map(pattern ->
                  Query.of(q ->
                      q.wildcard(w ->
                          w.field(field).value(Documents.wildcard(Documents.wellFormed(pattern))))))
              .toList();
      filters.add(
          either.isEmpty()
              ? Query.of(q -> q.matchNone(none -> none))
              : Query.of(q -> q.bool(any -> any.should(either).minimumShouldMatch("1"))));
    }
  }

  /**
   * Returns whether the cluster may be older than the client, which then omits its version from the
   * media type.
   */
  default boolean olderCluster() {
    return false;
  }

  /** Prepares the cluster for the indices before the first of them exists. */
  void prepare(ElasticsearchClient client) throws IOException;

  /** Returns the key of the preparation; when it changes, the cluster must be prepared again. */
  default String preparedFor() {
    return "ever";
  }

  /** Returns whether the layout has an index for the document. */
  boolean takes(TraceDocument document);

  /**
   * Adds an operation that creates the document under its ID; an existing document stays unchanged.
   */
  BulkOperation create(TraceDocument document);

  /** Sets the common options of a request. */
  void address(BulkRequest.Builder request);

  /** Builds the search for the documents of the page, with as many more as {@link #page} needs. */
  void ask(SearchRequest.Builder request, TraceQuery query);

  /** Returns the page from the cluster's answer to {@link #ask}. */
  TracePage page(TraceQuery query, List<Hit<JsonNode>> hits);
}
