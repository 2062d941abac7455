package org.traceetl.agent.config;

import java.nio.file.Path;
import java.util.Optional;

/**
 * All that can be set of an agent.
 *
 * @param stateDirectory where the agent keeps its identity and, by default, its spool; made if
 *     missing
 * @param drainTimeoutMillis longest time a stop waits for the broker's answers
 * @param filters the filters file, if there is one
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
    RocketMqConfig rocketmq,
    TelemetryConfig telemetry) {}
