package org.traceetl.server.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * Elasticsearch as a child process. It refuses to run as root: there it runs as nobody, by {@code
 * setpriv}.
 */
final class ElasticsearchProcess extends ElasticsearchServer {
  private static final String NOBODY = "65534";
  private static final List<String> AS_NOBODY =
      List.of("setpriv", "--reuid=" + NOBODY, "--regid=" + NOBODY, "--clear-groups");

  private final boolean root = "root".equals(System.getProperty("user.name"));
  private final Path javaHome = Path.of(System.getProperty("java.home"));
  private final String scheme;
  private final int port;
  private final Path home;
  private final Path instance;
  private final Thread endWithUs = new Thread(this::endAndDelete);
  private Process process;

  ElasticsearchProcess(
      Path unpacked, int port, Map<String, String> settings, Map<String, String> files)
      throws IOException, InterruptedException {
    this.port = port;
    this.scheme = scheme(settings);
    this.instance = Files.createTempDirectory("trace-etl-elasticsearch-");
    for (String directory : List.of("config", "data", "logs")) {
      Files.createDirectory(instance.resolve(directory));
    }
    configure(unpacked.resolve("config"), settings);
    for (Map.Entry<String, String> file : files.entrySet()) {
      Files.writeString(instance.resolve("config").resolve(file.getKey()), file.getValue());
    }
    this.home = readable(unpacked);
    if (root) {
      run(List.of("chown", "-R", NOBODY + ":" + NOBODY, instance.toString()));
    }
    Runtime.getRuntime().addShutdownHook(endWithUs);
  }

  private void configure(Path from, Map<String, String> settings) throws IOException {
    Path config = instance.resolve("config");
    for (String file : List.of("jvm.options", "log4j2.properties")) {
      Files.copy(from.resolve(file), config.resolve(file));
    }
    Files.createDirectory(config.resolve("jvm.options.d"));
    List<String> lines = new ArrayList<>();
    lines.add("network.host: 127.0.0.1");
    lines.add("http.port: " + port);
    lines.add("transport.port: " + freePort());
    lines.add("path.data: " + instance.resolve("data"));
    lines.add("path.logs: " + instance.resolve("logs"));
    singleNode(settings).forEach((key, value) -> lines.add(key + ": " + value));
    Files.write(config.resolve("elasticsearch.yml"), lines);
  }

  /** The home itself, or a copy where nobody may read it. */
  private Path readable(Path unpacked) throws IOException, InterruptedException {
    if (!root) {
      return unpacked;
    }
    if (!nobodyMayRun(javaHome.resolve("bin/java"))) {
      throw new IllegalStateException(
          "Elasticsearch does not run as root, and as nobody it cannot run "
              + javaHome
              + "/bin/java: run the tests as another user, or with a JDK that all may read");
    }
    if (nobodyMayRun(unpacked.resolve("bin/elasticsearch"))) {
      return unpacked;
    }
    Path copy = instance.resolve("home");
    run(List.of("cp", "-r", unpacked.toString(), copy.toString()));
    return copy;
  }

  private static boolean nobodyMayRun(Path program) throws IOException, InterruptedException {
    List<String> command = new ArrayList<>(AS_NOBODY);
    command.addAll(List.of("test", "-x", program.toString()));
    try {
      return new ProcessBuilder(command).start().waitFor() == 0;
    } catch (IOException e) {
      throw new IOException(
          "Elasticsearch does not run as root, and setpriv (of util-linux), which would run it as"
              + " nobody, is missing: install it, or run the tests as another user",
          e);
    }
  }

  private static void run(List<String> command) throws IOException, InterruptedException {
    int status = new ProcessBuilder(command).inheritIO().start().waitFor();
    if (status != 0) {
      throw new IOException(String.join(" ", command) + " ended with " + status);
    }
  }

  @Override
  public URI url() {
    return URI.create(scheme + "://127.0.0.1:" + port);
  }

  @Override
  public void startAgain() throws IOException, InterruptedException {
    List<String> command = new ArrayList<>();
    if (root) {
      command.addAll(AS_NOBODY);
    }
    command.add(home.resolve("bin/elasticsearch").toString());
    ProcessBuilder builder =
        new ProcessBuilder(command)
            .directory(instance.resolve("logs").toFile())
            .redirectErrorStream(true)
            .redirectOutput(
                ProcessBuilder.Redirect.appendTo(instance.resolve("output.log").toFile()));
    builder.environment().put("ES_PATH_CONF", instance.resolve("config").toString());
    builder.environment().put("ES_JAVA_HOME", javaHome.toString());
    builder.environment().put("ES_JAVA_OPTS", "-Xms512m -Xmx512m");
    process = builder.start();
    if (!answers(this::ended)) {
      end();
      throw new IOException("Elasticsearch did not start" + output());
    }
  }

  private boolean ended() {
    try {
      return process.waitFor(200, TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return true;
    }
  }

  private String output() throws IOException {
    List<String> lines = Files.readAllLines(instance.resolve("output.log"));
    return ":\n" + String.join("\n", lines.subList(Math.max(0, lines.size() - 20), lines.size()));
  }

  @Override
  public void kill() throws InterruptedException {
    end();
    process.waitFor();
  }

  /** The script's child is a launcher, and the server is the child of that. */
  private void end() {
    if (process == null) {
      return;
    }
    List<ProcessHandle> all =
        Stream.concat(process.descendants(), Stream.of(process.toHandle())).toList();
    all.forEach(ProcessHandle::destroyForcibly);
    all.forEach(handle -> handle.onExit().join());
  }

  private void endAndDelete() {
    end();
    try {
      delete(instance);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public void close() {
    endAndDelete();
    Runtime.getRuntime().removeShutdownHook(endWithUs);
  }

  @Override
  public String toString() {
    return "a process on port " + port;
  }
}
