package org.traceetl.testkit;

import io.netty.handler.ssl.util.InsecureTrustManagerFactory;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.GeneralSecurityException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import javax.net.ssl.SSLContext;

/**
 * Elasticsearch as a program: a single node that only this machine reaches. Security is off unless
 * the settings enable it. Elasticsearch refuses to run as root; under root it runs as user nobody.
 * For one thread.
 */
public final class Elasticsearch implements AutoCloseable {
  private static final String NOBODY = "65534";
  private static final List<String> AS_NOBODY =
      List.of("setpriv", "--reuid=" + NOBODY, "--regid=" + NOBODY, "--clear-groups");
  private static final Duration START_LIMIT = Duration.ofMinutes(3);
  private static final Duration POLL = Duration.ofMillis(200);

  private static Elasticsearch shared;

  private final boolean root = "root".equals(System.getProperty("user.name"));
  private final Path directory;
  private final URI url;
  private final Program program;

  /**
   * Chooses ports and writes the configuration.
   *
   * @param unpacked the home of an unpacked Elasticsearch, which is only read
   * @param directory for its files and log; other users must be able to enter it
   */
  public Elasticsearch(Path unpacked, Path directory, Ports ports)
      throws IOException, InterruptedException {
    this(unpacked, directory, ports, Map.of(), Map.of());
  }

  private Elasticsearch(
      Path unpacked,
      Path directory,
      Ports ports,
      Map<String, String> settings,
      Map<String, String> files)
      throws IOException, InterruptedException {
    this.directory = directory;
    int port = ports.next();
    boolean tls = "true".equals(settings.get("xpack.security.http.ssl.enabled"));
    url = URI.create((tls ? "https" : "http") + "://127.0.0.1:" + port);
    Path instance = Files.createDirectories(directory.resolve("elasticsearch"));
    Path config = instance.resolve("config");
    for (String folder : List.of("config/jvm.options.d", "data", "logs")) {
      Files.createDirectories(instance.resolve(folder));
    }
    for (String file : List.of("jvm.options", "log4j2.properties")) {
      Files.copy(unpacked.resolve("config").resolve(file), config.resolve(file));
    }
    Map<String, Object> all = new TreeMap<>(settings);
    all.put("network.host", "127.0.0.1");
    all.put("http.port", port);
    all.put("transport.port", ports.next());
    all.put("path.data", instance.resolve("data"));
    all.put("path.logs", instance.resolve("logs"));
    all.put("discovery.type", "single-node");
    all.putIfAbsent("xpack.security.enabled", false);
    all.put("cluster.routing.allocation.disk.threshold_enabled", false);
    List<String> lines = new ArrayList<>();
    all.forEach((key, value) -> lines.add(key + ": " + value));
    Files.write(config.resolve("elasticsearch.yml"), lines);
    for (Map.Entry<String, String> file : files.entrySet()) {
      Files.writeString(config.resolve(file.getKey()), file.getValue());
    }
    List<String> command = new ArrayList<>();
    if (root) {
      command.addAll(AS_NOBODY);
      command.addAll(List.of("--pdeathsig", "KILL"));
    }
    command.add(readable(unpacked).resolve("bin").resolve("elasticsearch").toString());
    if (root) {
      run(List.of("chown", "-R", NOBODY + ":" + NOBODY, instance.toString()));
    }
    program =
        new Program(
            "elasticsearch",
            command,
            Map.of(
                "ES_PATH_CONF",
                config.toString(),
                "ES_JAVA_HOME",
                System.getProperty("java.home"),
                "ES_JAVA_OPTS",
                // A node of a test mostly starts, and serves few requests.
                "-Xms512m -Xmx512m -XX:TieredStopAtLevel=1"),
            directory.resolve("elasticsearch.log"),
            url.resolve("/_cluster/health?wait_for_status=yellow&timeout=1s"));
  }

  /** Starts an empty node for one test and waits until it is ready. */
  public static Elasticsearch start() throws IOException, InterruptedException {
    return start(Map.of(), Map.of());
  }

  /**
   * Starts an empty node for one test and waits until it is ready.
   *
   * @param settings in addition to those of a single node
   * @param files texts for its configuration directory, by name
   */
  public static Elasticsearch start(Map<String, String> settings, Map<String, String> files)
      throws IOException, InterruptedException {
    Path home = home();
    Path directory =
        Files.createTempDirectory(
            "trace-etl-elasticsearch-",
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwxr-xr-x")));
    Elasticsearch server = new Elasticsearch(home, directory, new Ports(), settings, files);
    Runtime.getRuntime().addShutdownHook(new Thread(server::close));
    server.startAgain();
    System.out.println(
        "Real component: E" + home.getFileName().toString().substring(1).replace('-', ' '));
    return server;
  }

  /** Returns the node that all tests of this JVM share; use unique names in it. */
  public static synchronized Elasticsearch shared() throws IOException, InterruptedException {
    if (shared == null) {
      shared = start();
    }
    return shared;
  }

  /** Returns the home of the newest Elasticsearch that the build has unpacked. */
  public static Path home() throws IOException {
    Path module = Path.of(System.getProperty("basedir", ".")).toAbsolutePath().normalize();
    for (Path top = module; top != null; top = top.getParent()) {
      Path unpacked = top.resolve("testkit").resolve("target").resolve("elasticsearch");
      if (Files.isDirectory(unpacked)) {
        try (Stream<Path> homes = Files.list(unpacked)) {
          return homes.max(Comparator.naturalOrder()).orElseThrow();
        }
      }
    }
    throw new IllegalStateException(
        "testkit/target/elasticsearch does not exist: run the tests of module testkit with Maven"
            + " once, whose phase process-test-resources unpacks it");
  }

  /** Returns the home itself, or a copy if user nobody cannot read it. */
  private Path readable(Path unpacked) throws IOException, InterruptedException {
    if (!root) {
      return unpacked;
    }
    Path java = Path.of(System.getProperty("java.home"), "bin", "java");
    if (!nobodyCanRun(java)) {
      throw new IllegalStateException(
          "Elasticsearch does not run as root, and as nobody it cannot run "
              + java
              + ": run the tests as another user, or with a JDK that all users can read");
    }
    if (nobodyCanRun(unpacked.resolve("bin").resolve("elasticsearch"))) {
      return unpacked;
    }
    Path copy = directory.resolve("elasticsearch").resolve("home");
    run(List.of("cp", "-r", unpacked.toString(), copy.toString()));
    return copy;
  }

  private static boolean nobodyCanRun(Path program) throws IOException, InterruptedException {
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
      throw new IOException(String.join(" ", command) + " ended with exit code " + status);
    }
  }

  public Program program() {
    return program;
  }

  /** Returns the node's URL, which a restart does not change. */
  public URI url() {
    return url;
  }

  /** Kills the node as {@code kill -9} does. */
  public void kill() {
    program.kill();
  }

  /** Starts the node on its data, and waits until it answers. */
  public void startAgain() throws IOException, InterruptedException {
    program.start();
    long startNanos = System.nanoTime();
    try (HttpClient http = HttpClient.newBuilder().sslContext(trustingAll()).build()) {
      while (!answers(http)) {
        if (!program.isRunning() || System.nanoTime() - startNanos > START_LIMIT.toNanos()) {
          program.kill();
          List<String> lines = Files.readAllLines(program.log());
          throw new IOException(
              "Elasticsearch did not start:\n"
                  + String.join("\n", lines.subList(Math.max(0, lines.size() - 20), lines.size())));
        }
        Thread.sleep(POLL);
      }
    }
  }

  private boolean answers(HttpClient http) throws InterruptedException {
    HttpRequest health =
        HttpRequest.newBuilder(program.readyUri()).timeout(Duration.ofSeconds(30)).build();
    try {
      int status = http.send(health, BodyHandlers.discarding()).statusCode();
      // If security is on, only the test has credentials.
      return status == 200 || status == 401;
    } catch (IOException e) {
      return false;
    }
  }

  private static SSLContext trustingAll() {
    try {
      SSLContext context = SSLContext.getInstance("TLS");
      context.init(null, InsecureTrustManagerFactory.INSTANCE.getTrustManagers(), null);
      return context;
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException(e);
    }
  }

  /** Ends the node and deletes its directory. */
  @Override
  public void close() {
    program.kill();
    try (Stream<Path> paths = Files.walk(directory)) {
      for (Path path : paths.sorted(Comparator.reverseOrder()).toList()) {
        Files.deleteIfExists(path);
      }
    } catch (NoSuchFileException e) {
      // Already closed.
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
