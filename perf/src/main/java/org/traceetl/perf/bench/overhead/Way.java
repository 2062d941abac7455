package org.traceetl.perf.bench.overhead;

import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;

/** How the environment configures an application to trace. */
enum Way {
  /** No tracing. */
  NONE("none", Map.of()),
  OTLP_HTTP("otlp", Map.of("OTEL_EXPORTER_OTLP_PROTOCOL", "http/protobuf")),
  OTLP_GRPC("otlp", Map.of("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc")),
  RING("trace-etl", Map.of());

  private final String exporter;
  private final Map<String, String> more;

  Way(String exporter, Map<String, String> more) {
    this.exporter = exporter;
    this.more = more;
  }

  Map<String, String> environment(String httpPort, String grpcPort, Path rings) {
    Map<String, String> environment = new HashMap<>(more);
    environment.put("OTEL_TRACES_EXPORTER", exporter);
    environment.put("OTEL_METRICS_EXPORTER", "none");
    environment.put("OTEL_LOGS_EXPORTER", "none");
    environment.put(
        "OTEL_EXPORTER_OTLP_ENDPOINT",
        "http://127.0.0.1:" + (this == OTLP_GRPC ? grpcPort : httpPort));
    environment.put("OTEL_EXPORTER_TRACE_ETL_DIRECTORY", rings.toString());
    return environment;
  }
}
