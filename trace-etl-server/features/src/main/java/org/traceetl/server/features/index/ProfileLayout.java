package org.traceetl.server.features.index;

import java.time.InstantSource;

/** The layout of a profile's documents, which {@link java.util.ServiceLoader} finds. */
public interface ProfileLayout {
  /** As {@code trace-etl.index.elasticsearch.layout} names it. */
  String name();

  ElasticsearchLayout of(IndexConfig.Elasticsearch config, InstantSource clock);
}
