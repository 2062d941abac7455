package org.traceetl.server.features.index;

import co.elastic.clients.elasticsearch.ElasticsearchClient;
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
interface ElasticsearchLayout {
  static ElasticsearchLayout of(IndexConfig.Elasticsearch config) {
    return switch (config.layout()) {
      case DATA_STREAM -> new DataStreamLayout(config);
      case OZHERA -> new OzheraLayout(config);
    };
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
