package org.traceetl.server.testing;

import co.elastic.clients.transport.TransportUtils;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Comparator;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;
import org.testcontainers.DockerClientFactory;

/**
 * A real Elasticsearch for a test: in a container where a Docker daemon runs, otherwise as a
 * process from the Maven artifact that the build unpacks to {@code target/elasticsearch} of the
 * module under test. Says on the standard output which one it is; fails, and says what is missing,
 * if neither can be had.
 *
 * <p>For one test thread.
 */
public abstract sealed class ElasticsearchServer implements AutoCloseable
    permits ElasticsearchProcess, ElasticsearchContainer {
  private static final Duration START_LIMIT = Duration.ofMinutes(3);

  private static ElasticsearchServer shared;

  /** A server of the test's own, empty and ready. */
  public static ElasticsearchServer start() throws IOException, InterruptedException {
    return start(Map.of(), Map.of());
  }

  /**
   * A server of the test's own with settings of its own, empty and ready.
   *
   * @param settings beside those that make it a single node without security; they win over them
   * @param files texts to put into its configuration directory, by name
   */
  public static ElasticsearchServer start(Map<String, String> settings, Map<String, String> files)
      throws IOException, InterruptedException {
    Path home = home();
    String version = home.getFileName().toString().replaceFirst("elasticsearch-", "");
    ElasticsearchServer server = container(version, settings, files);
    if (server == null) {
      server = new ElasticsearchProcess(home, freePort(), settings, files);
      server.startAgain();
    }
    System.out.println("Real component: Elasticsearch " + version + ", " + server);
    return server;
  }

  private static ElasticsearchServer container(
      String version, Map<String, String> settings, Map<String, String> files)
      throws IOException, InterruptedException {
    if (!DockerClientFactory.instance().isDockerAvailable()) {
      return null;
    }
    ElasticsearchContainer server =
        new ElasticsearchContainer(version, freePort(), settings, files);
    try {
      server.startAgain();
      return server;
    } catch (RuntimeException e) {
      server.close();
      System.out.println("Docker runs, but not " + server + ": " + e.getMessage());
      return null;
    }
  }

  /** One server for all tests of this JVM, ended with it. Keep to names of your own in it. */
  public static synchronized ElasticsearchServer shared() throws IOException, InterruptedException {
    if (shared == null) {
      shared = start();
    }
    return shared;
  }

  /** Where it answers, also after it was started again. */
  public abstract URI url();

  /** Ends it as {@code kill -9} does. */
  public abstract void kill() throws InterruptedException;

  /** Starts it on the data that it had, and waits until it answers. */
  public abstract void startAgain() throws IOException, InterruptedException;

  /** Ends it and deletes its data. */
  @Override
  public abstract void close();

  private static Path home() throws IOException {
    Path unpacked = Path.of(System.getProperty("basedir", "."), "target", "elasticsearch");
    if (Files.isDirectory(unpacked)) {
      try (Stream<Path> homes = Files.list(unpacked)) {
        Path newest = homes.max(Comparator.naturalOrder()).orElse(null);
        if (newest != null) {
          return newest.toAbsolutePath();
        }
      }
    }
    throw new IllegalStateException(
        unpacked.toAbsolutePath()
            + " holds no Elasticsearch: declare maven-dependency-plugin in the module's pom.xml,"
            + " and run its tests with Maven once (phase process-test-resources unpacks it)");
  }

  /** The settings of a lone node, and the test's. */
  static Map<String, String> singleNode(Map<String, String> settings) {
    Map<String, String> all =
        new TreeMap<>(
            Map.of(
                "discovery.type", "single-node",
                "xpack.security.enabled", "false",
                "cluster.routing.allocation.disk.threshold_enabled", "false"));
    all.putAll(settings);
    return all;
  }

  /**
   * Waits until it answers.
   *
   * @param ended takes its time, a fraction of a second, and says whether waiting is in vain
   * @return false if it was in vain, or took minutes
   */
  final boolean answers(BooleanSupplier ended) throws InterruptedException {
    long limitNanos = System.nanoTime() + START_LIMIT.toNanos();
    HttpRequest health =
        HttpRequest.newBuilder(url().resolve("/_cluster/health?wait_for_status=yellow"))
            .timeout(Duration.ofSeconds(30))
            .build();
    try (HttpClient http =
        HttpClient.newBuilder().sslContext(TransportUtils.insecureSSLContext()).build()) {
      do {
        try {
          int status = http.send(health, BodyHandlers.discarding()).statusCode();
          // Where security is on, the test alone knows how to ask.
          if (status == 200 || status == 401) {
            return true;
          }
        } catch (IOException e) {
          // Not there yet.
        }
      } while (!ended.getAsBoolean() && System.nanoTime() < limitNanos);
    }
    return false;
  }

  static String scheme(Map<String, String> settings) {
    return "true".equals(settings.get("xpack.security.http.ssl.enabled")) ? "https" : "http";
  }

  static int freePort() {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  static void delete(Path directory) throws IOException {
    try (Stream<Path> paths = Files.walk(directory)) {
      for (Path path : paths.sorted(Comparator.reverseOrder()).toList()) {
        Files.deleteIfExists(path);
      }
    }
  }
}
