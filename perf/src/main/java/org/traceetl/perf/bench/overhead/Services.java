package org.traceetl.perf.bench.overhead;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import picocli.CommandLine.Option;

/** The measured URL shorteners; a group of arguments. */
final class Services {
  /** Spans of each request when a service traces. */
  static final int SPANS = 3;

  private static final String JAVA_APP = "org.traceetl.perf.bench.overhead.app.ShortenerApp";

  /** Room for the spans of all calls of a round, which arrive faster than any exporter sends. */
  static final Map<String, String> LONG_QUEUE = Map.of("OTEL_BSP_MAX_QUEUE_SIZE", "200000");

  @Option(
      names = "--k6",
      paramLabel = "FILE",
      description = "The load generator (default: ${DEFAULT-VALUE}).")
  private Path k6 = Path.of(".cache", "overhead", "k6");

  @Option(
      names = "--javaagent",
      paramLabel = "FILE",
      description = "The OpenTelemetry Java agent (default: ${DEFAULT-VALUE}).")
  private Path javaagent = Path.of(".cache", "overhead", "opentelemetry-javaagent.jar");

  @Option(
      names = "--extension",
      paramLabel = "FILE",
      description = "Its extension that exports through the ring (default: ${DEFAULT-VALUE}).")
  private Path extension = Path.of(".cache", "overhead", "trace-etl-exporter.jar");

  @Option(names = "--rate", description = "Requests a second (default: ${DEFAULT-VALUE}).")
  private int requestsPerSecond = 500;

  @Option(
      names = "--service-core",
      description = "The core of a service; -1: none (default: ${DEFAULT-VALUE}).")
  private int serviceCore = 0;

  @Option(
      names = "--load-core",
      description = "The core of the load generator; -1: none (default: ${DEFAULT-VALUE}).")
  private int loadCore = 1;

  /**
   * A running shortener.
   *
   * @param port for HTTP
   * @param traced whether it creates spans
   * @param calls whether it also creates all of them without HTTP
   */
  record Service(MeasuredProgram worker, String port, boolean traced, boolean calls)
      implements AutoCloseable {
    String name() {
      return worker.name();
    }

    /** Returns the number of HTTP requests since its start. */
    long served() throws IOException {
      return Long.parseLong(worker.ask("served").get("served"));
    }

    @Override
    public void close() {
      worker.close();
    }
  }

  /** Java and Python services: untraced twice, for the noise; then each way to trace. */
  static final List<String> NAMES =
      List.of(
          "java-untraced",
          "java-untraced-again",
          "java-otlp",
          "java-ring",
          "java-own-ring",
          "javaagent-none",
          "javaagent-otlp",
          "javaagent-ring",
          "python-untraced",
          "python-untraced-again",
          "python-otlp",
          "python-ring",
          "python-own-ring");

  /**
   * Starts one of {@link #NAMES}.
   *
   * @param environment the environment variables that a way to trace needs
   * @param more additional ones
   */
  Service start(
      String name, Environment environment, Map<String, String> more, Path python, Path folder)
      throws IOException {
    String language = name.substring(0, name.indexOf('-'));
    String how = name.substring(language.length() + 1).replace("-again", "");
    Map<String, String> variables =
        new HashMap<>(
            environment.of(
                switch (how) {
                  case "otlp" -> Way.OTLP_HTTP;
                  case "ring", "own-ring" -> Way.RING;
                  default -> Way.NONE;
                }));
    variables.put("OTEL_SERVICE_NAME", name);
    variables.putAll(more);
    List<String> command =
        switch (language) {
          case "python" -> List.of(python.toString(), "perf/overhead/shortener.py", how);
          case "javaagent" -> java(agentOptions(how), "javaagent");
          default ->
              java(
                  List.of(),
                  switch (how) {
                    case "untraced", "own-ring" -> how;
                    default -> "sdk";
                  });
        };
    MeasuredProgram worker =
        new MeasuredProgram(name, command, variables, serviceCore, folder.resolve(name + ".log"));
    String port = worker.answer().get("port");
    boolean traced = !how.equals("untraced") && !how.equals("none");
    return new Service(worker, port, traced, !language.equals("javaagent"));
  }

  private List<String> agentOptions(String how) {
    List<String> options = new ArrayList<>();
    options.add("-javaagent:" + javaagent.toAbsolutePath());
    if (how.equals("ring")) {
      options.add("-Dotel.javaagent.extensions=" + extension.toAbsolutePath());
    }
    return options;
  }

  private static List<String> java(List<String> options, String argument) {
    List<String> command =
        Jvm.command(
            JAVA_APP,
            Stream.concat(Stream.of("-Xmx384m", "-XX:+UseSerialGC"), options.stream())
                .toArray(String[]::new));
    command.add(argument);
    return command;
  }

  /**
   * Sends requests at the configured rate for a duration.
   *
   * @throws IOException if the service did not serve each of them
   */
  HttpLoad load(Service service, int seconds, Path folder) throws IOException {
    long before = service.served();
    HttpLoad load =
        HttpLoad.run(
            k6.toAbsolutePath(),
            service.port,
            requestsPerSecond,
            seconds,
            loadCore,
            folder.resolve("k6.log"));
    long served = service.served() - before;
    if (load.failed() > 0 || load.requests() != served) {
      throw new IOException(
          "%s served %d of %d requests, and %d failed"
              .formatted(service.name(), served, load.requests(), load.failed()));
    }
    return load;
  }

  /** The environment variables that a way to trace needs. */
  @FunctionalInterface
  interface Environment {
    Map<String, String> of(Way way);
  }
}
