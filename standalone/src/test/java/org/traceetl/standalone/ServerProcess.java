package org.traceetl.standalone;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.traceetl.server.TraceEtlServer;
import org.traceetl.testkit.Ports;
import org.traceetl.testkit.Program;
import org.traceetl.testkit.Programs;

/** A server, or a command of its program, in its own process, which can be killed. */
final class ServerProcess implements AutoCloseable {
  private static final Duration START_LIMIT = Duration.ofMinutes(4);

  private final Program program;
  private final int port;

  private ServerProcess(Program program, int port) {
    this.program = program;
    this.port = port;
  }

  /**
   * Starts a server on a free port, and waits until it is ready.
   *
   * @param directory for its log
   */
  static ServerProcess start(Path directory, Map<String, Object> properties)
      throws IOException, InterruptedException {
    int port = new Ports().next();
    Files.createDirectories(directory);
    Map<String, Object> all = new HashMap<>(properties);
    all.put("server.port", port);
    ServerProcess server =
        new ServerProcess(
            new Program(
                "server",
                command(directory, List.of(), all),
                Map.of(),
                directory.resolve("server.log"),
                URI.create("http://127.0.0.1:" + port + "/ready")),
            port);
    server.startAgain();
    return server;
  }

  /** Starts a server that was killed on its port, and waits until it is ready. */
  void startAgain() throws IOException, InterruptedException {
    program.start();
    try (HttpClient http = HttpClient.newHttpClient()) {
      program.awaitReady(http, START_LIMIT);
    }
  }

  /**
   * Starts a command of the server's program.
   *
   * @param log gets its output
   * @param options of the command, and keys of the configuration
   */
  static ServerProcess command(Path log, String name, Map<String, Object> options)
      throws IOException {
    ServerProcess process =
        new ServerProcess(
            new Program(
                name, command(log.getParent(), List.of(name), options), Map.of(), log, null),
            0);
    process.program.start();
    return process;
  }

  private static List<String> command(
      Path directory, List<String> arguments, Map<String, Object> options) {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(Programs.SHORT_LIVED_JVM);
    command.addAll(
        List.of(
            "-Xmx256m",
            "--enable-native-access=ALL-UNNAMED",
            "--sun-misc-unsafe-memory-access=allow",
            "-Duser.home=" + directory,
            "-Drocketmq.log.root=" + directory.resolve("rocketmq-log"),
            "-cp",
            System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")),
            TraceEtlServer.class.getName()));
    command.addAll(arguments);
    options.forEach((key, value) -> command.add("--" + key + "=" + value));
    return command;
  }

  URI uri(String path) {
    return URI.create("http://127.0.0.1:" + port + path);
  }

  int port() {
    return port;
  }

  boolean isRunning() {
    return program.isRunning();
  }

  /** Returns the exit code of an ended program. */
  int exitCode() {
    return program.exitCode();
  }

  void kill() {
    program.kill();
  }

  @Override
  public void close() {
    kill();
  }
}
