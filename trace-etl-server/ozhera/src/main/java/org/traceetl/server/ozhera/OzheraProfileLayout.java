package org.traceetl.server.ozhera;

import java.time.InstantSource;
import org.traceetl.server.features.index.ElasticsearchLayout;
import org.traceetl.server.features.index.IndexConfig;
import org.traceetl.server.features.index.ProfileLayout;

/** The layout of the documents that OzHera's pages search. */
public final class OzheraProfileLayout implements ProfileLayout {
  @Override
  public String name() {
    return OzheraProfile.ID;
  }

  @Override
  public ElasticsearchLayout of(IndexConfig.Elasticsearch config, InstantSource clock) {
    return new OzheraLayout(config, clock);
  }
}
