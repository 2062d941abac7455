package org.traceetl.perf.bench;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.net.http.HttpClient;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.zip.CRC32;
import org.traceetl.perf.bench.edges.CallTrees;
import org.traceetl.perf.bench.edges.Graph;
import org.traceetl.perf.bench.load.GrpcSender;
import org.traceetl.perf.bench.load.OtlpSender;
import org.traceetl.testkit.PageSample;
import org.traceetl.testkit.Ports;

/** Collectors that share the spans by service, as behind a balancer with that key. */
final class BalancedCollectors implements AutoCloseable {
  private static final Duration START_LIMIT = Duration.ofSeconds(30);

  private final List<Collector> instances = new ArrayList<>();
  private final List<OtlpSender> senders = new ArrayList<>();

  /** What instances showed before they were killed. */
  private final List<Graph> before = new ArrayList<>();

  /**
   * Chooses ports; {@link #start} starts the programs.
   *
   * @param name of the instances, which also get a number
   */
  BalancedCollectors(
      String name, int number, BuiltCollector built, Path data, Ports ports, EdgeLimits edges)
      throws IOException {
    for (int i = 1; i <= number; i++) {
      instances.add(built.withEdges(data, ports, name + "-" + i, BuiltCollector.GO_GOGC, edges));
    }
  }

  void start(HttpClient http) throws IOException, InterruptedException {
    for (Collector instance : instances) {
      instance.start(http);
      senders.add(new GrpcSender(instance.otlpPort(), 1));
    }
  }

  /** Returns the sender to the instance of a request's service, by a hash of its name. */
  OtlpSender sender(CallTrees.Export export) {
    CRC32 hash = new CRC32();
    hash.update(export.application().getBytes(UTF_8));
    return senders.get((int) (hash.getValue() % senders.size()));
  }

  /** Reads the page of the first instance, kills that instance, and starts it again. */
  void killFirst(HttpClient http) throws IOException, InterruptedException {
    Collector first = instances.getFirst();
    before.add(page(http, first));
    first.program().kill();
    first.program().start();
    first.program().awaitReady(http, START_LIMIT);
  }

  /** Returns the sum of all pages, with those before a kill, as Prometheus would have it. */
  Graph graph(HttpClient http) throws IOException, InterruptedException {
    List<Graph> graphs = new ArrayList<>(before);
    for (Collector instance : instances) {
      graphs.add(page(http, instance));
    }
    return Graph.sum(graphs);
  }

  private static Graph page(HttpClient http, Collector instance)
      throws IOException, InterruptedException {
    return Graph.of(PageSample.of(http, instance.page()));
  }

  @Override
  public void close() {
    senders.forEach(OtlpSender::close);
    instances.forEach(Collector::close);
  }
}
