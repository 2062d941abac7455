package org.traceetl.agent.config;

import java.nio.file.Path;
import java.util.Optional;

/**
 * The configuration of an agent.
 *
 * @param stateDirectory directory for the identity of the agent, the last known queues, the buffer
 *     of {@code forward} and, by default, the spool; created if missing; one agent each; keep it
 *     over restarts
 * @param drainTimeoutMillis longest wait at shutdown for the broker's confirmations, then for the
 *     endpoints of {@code forward}; 0 to 600000
 * @param filters the filters file, if there is one
 * @param detail which spans are sent with all their attributes
 * @param edges whether half-edges of the service graph are sent
 */
public record AgentConfig(
    Path stateDirectory,
    int drainTimeoutMillis,
    OtlpConfig otlp,
    FilesConfig files,
    RingConfig ring,
    PipelineConfig pipeline,
    SpoolConfig spool,
    RoutingConfig routing,
    Optional<WatchedFile> filters,
    DetailConfig detail,
    EdgesConfig edges,
    PublishConfig rocketmq,
    TelemetryConfig telemetry,
    ForwardConfig forward,
    KubernetesConfig kubernetes) {
  /**
   * Creates a configuration of an agent that sends all half-edges, forwards no traces and reads no
   * pods.
   */
  public AgentConfig(
      Path stateDirectory,
      int drainTimeoutMillis,
      OtlpConfig otlp,
      FilesConfig files,
      RingConfig ring,
      PipelineConfig pipeline,
      SpoolConfig spool,
      RoutingConfig routing,
      Optional<WatchedFile> filters,
      DetailConfig detail,
      PublishConfig rocketmq,
      TelemetryConfig telemetry) {
    this(
        stateDirectory,
        drainTimeoutMillis,
        otlp,
        files,
        ring,
        pipeline,
        spool,
        routing,
        filters,
        detail,
        EdgesConfig.defaults(),
        rocketmq,
        telemetry,
        ForwardConfig.defaults(),
        KubernetesConfig.defaults());
  }
}
