package org.traceetl.agent;

import java.io.IOException;
import java.util.Optional;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.traceetl.agent.config.AgentConfig;
import org.traceetl.agent.config.FilterRules;
import org.traceetl.agent.config.FiltersFile;
import org.traceetl.agent.config.RoutingFile;
import org.traceetl.agent.config.RoutingRules;
import org.traceetl.agent.config.WatchedFile;
import org.traceetl.agent.disk.Disk;
import org.traceetl.agent.reload.FileWatch;
import org.traceetl.agent.reload.Reloader;
import org.traceetl.agent.telemetry.AgentMetrics;
import org.traceetl.common.ReloadedFile;

/**
 * Holds the rules that may change while the agent runs: those of the routing and the filters file.
 */
final class LiveRules {
  private static final Logger log = LoggerFactory.getLogger(LiveRules.class);

  private final AgentConfig config;
  private final Consumer<RoutingRules> routingListener;
  private final Consumer<FilterRules> filterListener;
  // Null if no file is configured.
  private final FileWatch<RoutingRules> routingFile;
  private final FileWatch<FilterRules> filtersFile;
  private volatile RoutingRules routing;
  private volatile FilterRules filters;

  /**
   * Reads the files once. They are not re-read until {@link #follow}.
   *
   * @throws IOException if a file cannot be read or is invalid
   */
  LiveRules(
      AgentConfig config,
      Disk disk,
      AgentMetrics metrics,
      Consumer<RoutingRules> routingListener,
      Consumer<FilterRules> filterListener)
      throws IOException {
    this.config = config;
    this.routingListener = routingListener;
    this.filterListener = filterListener;
    RoutingRules keys = config.routing().keys();
    routingFile =
        watch(
            "routing.file",
            config.routing().file(),
            disk,
            content -> RoutingFile.parse(content, keys),
            this::take);
    filtersFile = watch("filters.file", config.filters(), disk, FiltersFile::parse, this::take);
    routing = routingFile == null ? keys : routingFile.first();
    filters = filtersFile == null ? FilterRules.NONE : filtersFile.first();
    metrics.gauge(
        "routing_rules_fingerprint",
        "Hash of the routing rules in force; agents with the same value use the same rules.",
        () -> routing.fingerprint());
    metrics.gauge(
        "routing_file_refused",
        "1 while the routing file is invalid or unreadable and the previous rules are in force,"
            + " else 0.",
        () -> isRefused(routingFile));
    metrics.gauge(
        "filter_rules_fingerprint",
        "Hash of the filter rules in force; agents with the same value use the same rules.",
        () -> filters.fingerprint());
    metrics.gauge(
        "filters_file_refused",
        "1 while the filters file is invalid or unreadable and the previous rules are in force,"
            + " else 0.",
        () -> isRefused(filtersFile));
  }

  private static <T> FileWatch<T> watch(
      String key,
      Optional<WatchedFile> file,
      Disk disk,
      ReloadedFile.Parser<T> parser,
      Consumer<T> listener)
      throws IOException {
    return file.isEmpty() ? null : new FileWatch<>(key, file.get(), disk, parser, listener);
  }

  private static int isRefused(FileWatch<?> watch) {
    return watch != null && watch.isRefused() ? 1 : 0;
  }

  /** Adds the files to the reloader. */
  void follow(Reloader reloader) {
    config
        .routing()
        .file()
        .ifPresent(file -> reloader.add("routing_file", file.pollMillis(), routingFile));
    config
        .filters()
        .ifPresent(file -> reloader.add("filters_file", file.pollMillis(), filtersFile));
  }

  RoutingRules routing() {
    return routing;
  }

  FilterRules filters() {
    return filters;
  }

  private void take(RoutingRules now) {
    routingListener.accept(now);
    routing = now;
    log.info(
        "Applied the routing file: {} rules, {} exclusions, fingerprint {}",
        now.applications().size(),
        now.excluded().size(),
        now.fingerprint());
  }

  private void take(FilterRules now) {
    filterListener.accept(now);
    filters = now;
    log.info(
        "Applied the filters file: {} drop rules, {} sample rules, {} attribute rules, {} redact"
            + " rules, fingerprint {}",
        now.drop().size(),
        now.sample().size(),
        now.attributes().size(),
        now.redact().size(),
        now.fingerprint());
  }
}
