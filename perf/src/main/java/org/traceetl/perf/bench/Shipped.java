package org.traceetl.perf.bench;

import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.traceetl.testkit.Program;
import picocli.CommandLine.Option;

/** The shipped agent and server; a group of arguments. */
class Shipped {
  /** JVM options of a program that has no options of its own. */
  private static final List<String> PLAIN =
      List.of(
          "-Xmx1g",
          "-XX:MaxDirectMemorySize=1g",
          "-XX:+UseParallelGC",
          "--enable-native-access=ALL-UNNAMED",
          "--sun-misc-unsafe-memory-access=allow");

  @Option(
      names = "--jvm-options",
      paramLabel = "DIRECTORY",
      description =
          "Directory of log-agent.options and trace-etl-server.options (default: deploy/jvm if it"
              + " has them).")
  private Path jvmOptions;

  @Option(
      names = "-J",
      paramLabel = "agent|broker|server|application=OPTION",
      description =
          "A further option of a JVM; may be repeated. Only agent and rivals have applications.")
  private List<String> moreJvmOptions = List.of();

  @Option(
      names = "--filters",
      paramLabel = "FILE",
      description = "The agent's filters file (default: none).")
  private Path filters;

  @Option(
      names = "--detail",
      paramLabel = "full|demand",
      converter = Detail.Converter.class,
      description =
          "What agents send of a span: all, or what the server demands"
              + " (default: ${DEFAULT-VALUE}).")
  private Detail detail = Detail.DEMAND;

  Detail detail() {
    return detail;
  }

  /** Returns the JVM options of an agent, a broker, a server or an application. */
  List<String> jvmOptions(String program) {
    List<String> options =
        new ArrayList<>(
            switch (program) {
              case "agent" -> optionsOf("log-agent.options");
              case "server" -> optionsOf("trace-etl-server.options");
              default -> PLAIN;
            });
    String prefix = program + "=";
    moreJvmOptions.stream()
        .filter(option -> option.startsWith(prefix))
        .forEach(option -> options.add(option.substring(prefix.length())));
    return options;
  }

  private List<String> optionsOf(String name) {
    Path directory = jvmOptions == null ? Path.of("deploy", "jvm") : jvmOptions;
    Path file = directory.resolve(name).toAbsolutePath();
    if (jvmOptions != null && !Files.exists(file)) {
      throw new IllegalArgumentException("--jvm-options=" + jvmOptions + " has no " + name);
    }
    return Files.exists(file) ? List.of("@" + file) : PLAIN;
  }

  /**
   * Returns an agent that is not started.
   *
   * @param home the directory for its files and its log
   * @param settings its configuration, in YAML, without those of directory and telemetry
   */
  Program agent(Path home, int telemetryPort, String settings) throws IOException {
    String configuration =
        """
        state-directory: %s
        telemetry: {host: 127.0.0.1, port: %d}
        %s\
        """
            .formatted(home.resolve("state"), telemetryPort, settings + detail.settings());
    if (filters != null) {
      configuration += "filters: {file: \"%s\"}%n".formatted(filters.toAbsolutePath());
    }
    return program(
        "agent",
        home,
        jar(Path.of("log-agent", "target"), "log-agent-[^-]+(-SNAPSHOT)?\\.jar"),
        configuration,
        URI.create("http://127.0.0.1:" + telemetryPort + "/health"));
  }

  /**
   * Returns a server that is not started.
   *
   * @param home the directory for its files and its log
   * @param settings its configuration, in YAML, without those of the web port
   */
  Program server(Path home, int port, String settings) throws IOException {
    return program(
        "server",
        home,
        jar(Path.of("trace-etl-server", "app", "target"), "trace-etl-server-.*-exec\\.jar"),
        "server: {port: %d, address: 127.0.0.1}%n%s".formatted(port, settings),
        URI.create("http://127.0.0.1:" + port + "/ready"));
  }

  private static Path jar(Path directory, String name) throws IOException {
    try (Stream<Path> files = Files.list(directory)) {
      return files
          .filter(file -> file.getFileName().toString().matches(name))
          .findFirst()
          .orElseThrow(() -> new IOException("nothing called " + name + " in " + directory))
          .toAbsolutePath();
    }
  }

  private Program program(String name, Path home, Path jar, String configuration, URI ready)
      throws IOException {
    Files.createDirectories(home);
    Path config = Files.writeString(home.resolve(name + ".yaml"), configuration);
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(jvmOptions(name));
    command.addAll(
        List.of(
            "-Duser.home=" + home,
            "-Drocketmq.log.root=" + home.resolve("rocketmq-log"),
            "-jar",
            jar.toString(),
            "--config=" + config));
    return new Program(name, command, Map.of(), home.resolve(name + ".log"), ready);
  }
}
