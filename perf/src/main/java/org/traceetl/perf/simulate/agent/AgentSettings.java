package org.traceetl.perf.simulate.agent;

import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.random.RandomGenerator;
import org.traceetl.agent.config.AgentConfig;
import org.traceetl.agent.config.DetailConfig;
import org.traceetl.agent.config.DetailConfig.Detail;
import org.traceetl.agent.config.FilesConfig;
import org.traceetl.agent.config.OtlpConfig;
import org.traceetl.agent.config.PipelineConfig;
import org.traceetl.agent.config.PublishConfig;
import org.traceetl.agent.config.PublishConfig.Bundles;
import org.traceetl.agent.config.RingConfig;
import org.traceetl.agent.config.RoutingConfig;
import org.traceetl.agent.config.SpoolConfig;
import org.traceetl.agent.config.TelemetryConfig;
import org.traceetl.agent.config.WatchedFile;

/** Configurations of simulated agents. */
public final class AgentSettings {
  /** Small, so that a segment ends after 128 batches, or after 64. */
  private static final int[] SPOOL_BATCHES = {2048, 2048, 1024};

  /**
   * Small, so that a broker's absence of minutes leads to merges; an agent is ready while a
   * mebibyte of it is free.
   */
  private static final long[] SPOOL_BYTES = {3L << 19, 3L << 19, 4L << 20};

  private static final int IN_FLIGHT_BYTES = 1 << 20;

  private static final int RULES_POLL_MILLIS = 5_000;

  private AgentSettings() {}

  /** Returns the usual configuration of an agent with little load; see {@link #draw}. */
  public static AgentConfig small(String agent, String topic) {
    return small(
        agent,
        topic,
        new DetailConfig(Detail.FULL, List.of()),
        Bundles.OFF,
        0,
        SPOOL_BYTES[0],
        SPOOL_BATCHES[0]);
  }

  /**
   * Draws the configuration of an agent with little load. It has no ports, trace logs and rings.
   *
   * @param topic topic of the spans
   * @param detail how it sends spans
   * @param bundles whether it sends bundles while servers say that they read them
   * @param lingerMillis how long batches wait for others to share a bundle
   */
  public static AgentConfig draw(
      String agent,
      String topic,
      DetailConfig detail,
      boolean bundles,
      int lingerMillis,
      RandomGenerator random) {
    return small(
        agent,
        topic,
        detail,
        bundles ? Bundles.AUTO : Bundles.OFF,
        lingerMillis,
        SPOOL_BYTES[random.nextInt(SPOOL_BYTES.length)],
        SPOOL_BATCHES[random.nextInt(SPOOL_BATCHES.length)]);
  }

  private static AgentConfig small(
      String agent,
      String topic,
      DetailConfig detail,
      Bundles bundles,
      int lingerMillis,
      long spoolBytes,
      int spoolBatches) {
    Path state = Path.of("/simulated", agent);
    OtlpConfig otlp = OtlpConfig.defaults();
    FilesConfig files = FilesConfig.defaults();
    RingConfig rings = RingConfig.defaults();
    PublishConfig publish = PublishConfig.defaults();
    return new AgentConfig(
        state,
        10_000,
        new OtlpConfig(false, otlp.host(), 0, 0, otlp.maxRequestBytes()),
        files,
        new RingConfig(
            false,
            state.resolve("rings"),
            rings.group(),
            rings.maxRings(),
            rings.maxBytes(),
            rings.maxDictionaryBytes()),
        new PipelineConfig(IN_FLIGHT_BYTES, 4_096, 256, 20, 8),
        new SpoolConfig(
            state.resolve("spool"),
            spoolBytes,
            spoolBatches,
            24,
            SpoolConfig.WhenFull.REFUSE,
            SpoolConfig.Flush.COMMIT),
        routing(state.resolve("routing.yaml")),
        Optional.empty(),
        detail,
        new PublishConfig(
            publish.nameServer(),
            topic,
            publish.edgesTopic(),
            publish.producerGroup(),
            publish.accessKey(),
            publish.secretKey(),
            publish.sendTimeoutMillis(),
            publish.retryFirstMillis(),
            publish.retryMaxMillis(),
            publish.routeRefreshMillis(),
            Optional.empty(),
            bundles,
            lingerMillis),
        new TelemetryConfig(false, "127.0.0.1", 0));
  }

  private static RoutingConfig routing(Path file) {
    RoutingConfig routing = RoutingConfig.defaults();
    return new RoutingConfig(
        routing.keys(),
        Optional.of(new WatchedFile(file, RULES_POLL_MILLIS)),
        routing.hotspots(),
        routing.learntNames(),
        routing.hotspotsTopic(),
        routing.publicKeysFile(),
        routing.rerouteAfterSeconds());
  }
}
