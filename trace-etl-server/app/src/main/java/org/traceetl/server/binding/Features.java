package org.traceetl.server.binding;

import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.traceetl.common.ConfigException;
import org.traceetl.server.config.ConfigSection;
import org.traceetl.server.config.DocumentsConfig;
import org.traceetl.server.config.MetricsConfig;
import org.traceetl.server.config.Profile;
import org.traceetl.server.features.completeness.CompletenessType;
import org.traceetl.server.features.demand.DemandType;
import org.traceetl.server.features.deploys.DeploysType;
import org.traceetl.server.features.discovery.DiscoveryType;
import org.traceetl.server.features.edges.EdgesType;
import org.traceetl.server.features.graph.GraphType;
import org.traceetl.server.features.history.HistoryType;
import org.traceetl.server.features.hotspot.HotspotType;
import org.traceetl.server.features.index.IndexType;
import org.traceetl.server.features.learn.LearnType;
import org.traceetl.server.features.pages.PagesType;
import org.traceetl.server.features.push.PushType;
import org.traceetl.server.features.rules.RulesType;
import org.traceetl.server.features.why.WhyType;
import org.traceetl.server.http.FeatureType;

/** The features of a server. A feature is added or removed by its line in the list. */
public final class Features {
  /**
   * In the order in which they are constructed and start. The history comes before those that read
   * the fleet's windows.
   */
  public static final List<FeatureType> ALL =
      List.of(
          new PagesType(),
          new IndexType(),
          new PushType(),
          new HistoryType(),
          new CompletenessType(),
          new DeploysType(),
          new LearnType(),
          new RulesType(),
          new DemandType(),
          new HotspotType(),
          new EdgesType(),
          new GraphType(),
          new DiscoveryType(),
          new WhyType());

  private Features() {}

  /** The keys of those that have some. */
  static List<ConfigSection<?, ?>> sections() {
    List<ConfigSection<?, ?>> sections = new ArrayList<>();
    for (FeatureType feature : ALL) {
      if (feature.section() != null) {
        sections.add(feature.section());
      }
    }
    return sections;
  }

  /** Configurations of what was bound, by prefix. */
  static Map<String, Record> configs(Map<String, Record> keys, Profile profile) {
    Map<String, Record> configs = new LinkedHashMap<>();
    for (ConfigSection<?, ?> section : sections()) {
      configs.put(section.prefix(), config(section, keys.get(section.prefix()), profile));
    }
    return configs;
  }

  /** Those that are not refused. */
  static Map<String, Record> configs(Map<String, Record> keys, Profile profile, Refusals refusals) {
    Map<String, Record> configs = new LinkedHashMap<>();
    for (ConfigSection<?, ?> section : sections()) {
      String prefix = section.prefix();
      Record config = refusals.section(prefix, () -> config(section, keys.get(prefix), profile));
      if (config != null) {
        configs.put(prefix, config);
      }
    }
    return configs;
  }

  private static <K extends Record> Record config(
      ConfigSection<K, ?> section, Record keys, Profile profile) {
    return section.config(section.keys().cast(keys), profile);
  }

  /** Those given, and the defaults of the others, in the order of the list. */
  static Map<String, Record> withDefaults(Map<String, Record> given, Profile profile) {
    Map<String, Record> all = configs(Map.of(), profile);
    all.putAll(given);
    return Collections.unmodifiableMap(all);
  }

  static void validate(Map<String, Record> configs, MetricsConfig metrics, Set<String> topics) {
    List<String> problems = new ArrayList<>();
    for (ConfigSection<?, ?> section : sections()) {
      try {
        validate(section, configs, metrics, topics);
      } catch (ConfigException e) {
        problems.addAll(e.problems());
      }
    }
    if (!problems.isEmpty()) {
      throw new ConfigException(problems);
    }
  }

  private static <C extends Record> void validate(
      ConfigSection<?, C> section,
      Map<String, Record> configs,
      MetricsConfig metrics,
      Set<String> topics) {
    section.validate(of(section, configs), metrics.profile(), topics);
    section.validate(of(section, configs), metrics);
  }

  static DocumentsConfig documents(Map<String, Record> configs, DocumentsConfig documents) {
    DocumentsConfig kept = documents;
    for (ConfigSection<?, ?> section : sections()) {
      kept = documents(section, configs, kept);
    }
    return kept;
  }

  private static <C extends Record> DocumentsConfig documents(
      ConfigSection<?, C> section, Map<String, Record> configs, DocumentsConfig documents) {
    return section.documents(of(section, configs), documents);
  }

  static void checkFiles(ServerConfig config, Refusals refusals) {
    for (ConfigSection<?, ?> section : sections()) {
      refusals.check(() -> checkFiles(section, config));
    }
  }

  private static <C extends Record> void checkFiles(
      ConfigSection<?, C> section, ServerConfig config) {
    section.checkFiles(of(section, config.ofFeatures()));
  }

  private static <C extends Record> C of(ConfigSection<?, C> section, Map<String, Record> configs) {
    return section.type().cast(configs.get(section.prefix()));
  }
}
