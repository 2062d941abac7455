package org.traceetl.server.features.index;

import static java.util.stream.Collectors.toCollection;
import static org.traceetl.common.ConfigException.check;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.InstantSource;
import java.util.ServiceLoader;
import java.util.Set;
import java.util.TreeSet;
import org.traceetl.common.Clocks;
import org.traceetl.server.assembly.ServerContext;
import org.traceetl.server.config.ConfigSection;
import org.traceetl.server.config.DocumentsConfig;
import org.traceetl.server.config.Profile;
import org.traceetl.server.http.Feature;
import org.traceetl.server.http.FeatureType;

/** The trace index. */
public final class IndexType implements FeatureType {
  /** Opens the index that a configuration names. Simulations replace it. */
  @FunctionalInterface
  public interface Opener {
    /** Opens the index. Does not wait for a remote store. */
    TraceIndex open(IndexConfig config, Clocks clocks) throws IOException;
  }

  private static final class Section implements ConfigSection<IndexKeys, IndexConfig> {
    @Override
    public String prefix() {
      return "index";
    }

    @Override
    public Class<IndexKeys> keys() {
      return IndexKeys.class;
    }

    @Override
    public Class<IndexConfig> type() {
      return IndexConfig.class;
    }

    @Override
    public IndexConfig config(IndexKeys keys, Profile profile) {
      return keys == null ? IndexConfig.defaults() : keys.toConfig(profile);
    }

    @Override
    public void validate(IndexConfig own, Profile profile, Set<String> topics) {
      String layout = own.elasticsearch().layout();
      if (layout.equals(Profile.DATA_STREAM)) {
        return;
      }
      Set<String> layouts =
          Profile.all().stream().map(Profile::layout).collect(toCollection(TreeSet::new));
      check(
          layouts.contains(layout),
          "trace-etl.index.elasticsearch.layout",
          layout,
          "must be one of " + String.join(", ", layouts));
      check(
          layout.equals(profile.layout()),
          "trace-etl.index.elasticsearch.layout",
          layout,
          "requires trace-etl.metrics.profile = "
              + layout
              + ", which produces the fields of this layout");
    }

    /** Layouts of profiles have no field for what sets an exemplar apart. */
    @Override
    public DocumentsConfig documents(IndexConfig own, DocumentsConfig documents) {
      return own.type() == IndexConfig.Type.ELASTICSEARCH
              && !own.elasticsearch().layout().equals(Profile.DATA_STREAM)
          ? documents.withoutExemplars()
          : documents;
    }
  }

  private final Opener opener;

  /** Creates the feature with the stores of {@link IndexConfig.Type}. */
  public IndexType() {
    this((config, clocks) ->
        TraceIndex.open(config, layout(config.elasticsearch(), clocks.wall()), clocks));
  }

  /** Creates the feature with another store. */
  public IndexType(Opener opener) {
    this.opener = opener;
  }

  @Override
  public ConfigSection<IndexKeys, IndexConfig> section() {
    return new Section();
  }

  @Override
  public Feature create(Record own, ServerContext context) {
    IndexConfig config = (IndexConfig) own;
    String group = context.config().rocketmq().consumerGroup() + "-index";
    TraceIndex index = open(config, context.clocks());
    if (config.type() != IndexConfig.Type.NONE) {
      context.documents(index);
    }
    return new IndexFeature(
        config,
        index,
        queue -> context.journal().journals().tail(queue, group),
        context.clocks(),
        context.random());
  }

  private TraceIndex open(IndexConfig config, Clocks clocks) {
    try {
      return opener.open(config, clocks);
    } catch (IOException e) {
      throw new UncheckedIOException("the trace index cannot be opened: " + e.getMessage(), e);
    }
  }

  private static ElasticsearchLayout layout(IndexConfig.Elasticsearch config, InstantSource clock) {
    return ServiceLoader.load(ProfileLayout.class, ProfileLayout.class.getClassLoader()).stream()
        .map(ServiceLoader.Provider::get)
        .filter(layout -> layout.name().equals(config.layout()))
        .findFirst()
        .map(layout -> layout.of(config, clock))
        .orElseGet(() -> ElasticsearchLayout.dataStream(config));
  }
}
