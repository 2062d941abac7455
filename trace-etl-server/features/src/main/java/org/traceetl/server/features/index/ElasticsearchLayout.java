package org.traceetl.server.features.index;

import co.elastic.clients.elasticsearch.ElasticsearchClient;
import co.elastic.clients.elasticsearch._types.query_dsl.Query;
import co.elastic.clients.elasticsearch.core.BulkRequest;
import co.elastic.clients.elasticsearch.core.SearchRequest;
import co.elastic.clients.elasticsearch.core.bulk.BulkOperation;
import co.elastic.clients.elasticsearch.core.search.Hit;
import java.io.IOException;
import java.util.List;
import org.traceetl.server.config.IndexConfig;
import org.traceetl.server.window.TraceDocument;
import tools.jackson.databind.JsonNode;

/** How documents lie in Elasticsearch: in which indices, with which fields, and how long. */
public interface ElasticsearchLayout {
  /** Of index templates: above those that come with Elasticsearch (100 to 200). */
  long TEMPLATE_PRIORITY = 500;

  /** Documents in a data stream, with the fields that {@code /api/traces} has. */
  static ElasticsearchLayout dataStream(IndexConfig.Elasticsearch config) {
    return new DataStreamLayout(config);
  }

  /** Adds that the field is exactly the value, unless it is null. */
  static void term(List<Query> filters, String field, String value) {
    if (value != null) {
      String wellFormed = Documents.wellFormed(value);
      filters.add(Query.of(q -> q.term(t -> t.field(field).value(wellFormed))));
    }
  }

  /**
   * Whether the cluster may be older than the client, which then names JSON without the version
   * that such a cluster refuses.
   */
  default boolean olderCluster() {
    return false;
  }

  /** Tells the cluster what the indices are to be like, before the first of them is there. */
  void prepare(ElasticsearchClient client) throws IOException;

  /** What the cluster is prepared for; once it is another, it has to be prepared anew. */
  default String preparedFor() {
    return "ever";
  }

  /** Whether there is a place for the document. */
  boolean takes(TraceDocument document);

  /** Creates the document under its name; one that is there under it stays as it is. */
  BulkOperation create(TraceDocument document);

  /** What all operations of a request have in common. */
  void address(BulkRequest.Builder request);

  /** Asks for the documents of the page, and as many more as {@link #page} needs. */
  void ask(SearchRequest.Builder request, TraceQuery query);

  /** The page, of what the cluster answered to {@link #ask}. */
  TracePage page(TraceQuery query, List<Hit<JsonNode>> hits);
}
