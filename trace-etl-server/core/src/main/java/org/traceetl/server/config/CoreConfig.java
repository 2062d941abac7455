package org.traceetl.server.config;

import java.util.List;

/** What core and the profiles need of a server's configuration. Immutable. */
public interface CoreConfig {
  RocketMqConfig rocketmq();

  JournalConfig journal();

  WindowConfig window();

  SeriesConfig series();

  HistogramConfig histogram();

  DocumentsConfig documents();

  MetricsConfig metrics();

  DeduplicationConfig deduplication();

  AgentsConfig agents();

  EdgesConfig edges();

  /** The measures of all applications. */
  List<MeasureConfig> measures();

  /** The keys that a profile has of its own; null if it has none. */
  Record settings(Profile profile);
}
