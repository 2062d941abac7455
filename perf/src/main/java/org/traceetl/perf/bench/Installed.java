package org.traceetl.perf.bench;

import java.io.IOException;
import java.io.Reader;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.traceetl.testkit.Program;
import picocli.CommandLine.Option;

/** The shipped programs of the whole path; a group of arguments. */
final class Installed {
  /** JVM options of a program that has no options of its own. */
  private static final List<String> PLAIN =
      List.of(
          "-Xmx1g",
          "-XX:MaxDirectMemorySize=1g",
          "-XX:+UseParallelGC",
          "--enable-native-access=ALL-UNNAMED",
          "--sun-misc-unsafe-memory-access=allow");

  @Option(names = "--queues", description = "Queues of the topics (default: ${DEFAULT-VALUE}).")
  private int queues = 4;

  @Option(
      names = "--broker-conf",
      paramLabel = "FILE",
      description =
          "Settings of the broker (default: deploy/rocketmq/broker.conf, where there is one).")
  private Path brokerConf;

  @Option(
      names = "--broker-setting",
      paramLabel = "KEY=VALUE",
      description = "A further setting of the broker.")
  private Map<String, String> brokerSettings = Map.of();

  @Option(
      names = "--jvm-options",
      paramLabel = "DIRECTORY",
      description =
          "Has log-agent.options and trace-etl-server.options (default: deploy/jvm, where there are"
              + " such).")
  private Path jvmOptions;

  @Option(
      names = "-J",
      paramLabel = "agent|broker|server=OPTION",
      description = "A further option of a JVM; may be given several times.")
  private List<String> moreJvmOptions = List.of();

  @Option(
      names = "--filters",
      paramLabel = "FILE",
      description = "The agent's filters file (default: none).")
  private Path filters;

  int queues() {
    return queues;
  }

  Path agentJar() throws IOException {
    return jar(Path.of("log-agent", "target"), "log-agent-[^-]+(-SNAPSHOT)?\\.jar");
  }

  Path serverJar() throws IOException {
    return jar(Path.of("trace-etl-server", "app", "target"), "trace-etl-server-.*-exec\\.jar");
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

  /** Returns lines of the agent's configuration in addition to those of a benchmark. */
  String agentSettings() {
    return filters == null ? "" : "filters: {file: \"%s\"}%n".formatted(filters.toAbsolutePath());
  }

  /** Returns the JVM options of an agent, a broker or a server. */
  List<String> jvmOptions(String program) {
    List<String> options = new ArrayList<>();
    switch (program) {
      case "agent" -> options.addAll(optionsOf("log-agent.options"));
      case "server" -> options.addAll(optionsOf("trace-etl-server.options"));
      default -> options.addAll(PLAIN);
    }
    String prefix = program + "=";
    moreJvmOptions.stream()
        .filter(option -> option.startsWith(prefix))
        .forEach(option -> options.add(option.substring(prefix.length())));
    return options;
  }

  /**
   * Returns one of the programs with its own configuration.
   *
   * @param kind agent or server
   * @param home the directory for its files and its log
   */
  Program program(String kind, String name, Path home, Path jar, Path config, URI ready) {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(jvmOptions(kind));
    command.addAll(
        List.of(
            "-Duser.home=" + home,
            "-Drocketmq.log.root=" + home.resolve("rocketmq-log"),
            "-jar",
            jar.toString(),
            "--config=" + config));
    return new Program(name, command, Map.of(), home.resolve(name + ".log"), ready);
  }

  private List<String> optionsOf(String name) {
    Path directory = jvmOptions == null ? Path.of("deploy", "jvm") : jvmOptions;
    Path file = directory.resolve(name).toAbsolutePath();
    if (jvmOptions != null && !Files.exists(file)) {
      throw new IllegalArgumentException("--jvm-options=" + jvmOptions + " has no " + name);
    }
    return Files.exists(file) ? List.of("@" + file) : PLAIN;
  }

  Map<String, Object> brokerSettings() {
    Map<String, Object> settings = new TreeMap<>();
    Path conf = brokerConf == null ? Path.of("deploy", "rocketmq", "broker.conf") : brokerConf;
    if (brokerConf != null || Files.exists(conf)) {
      Properties file = new Properties();
      try (Reader reader = Files.newBufferedReader(conf)) {
        file.load(reader);
      } catch (IOException e) {
        throw new UncheckedIOException("--broker-conf=" + conf + " cannot be read", e);
      }
      file.forEach((key, value) -> settings.put(key.toString(), value));
    }
    settings.putAll(brokerSettings);
    return settings;
  }
}
