package org.traceetl.perf.bench;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.util.List;
import org.traceetl.testkit.Program;

/** What takes OTLP over gRPC and shows span metrics, as processes of its own. */
interface Contender extends AutoCloseable {
  /** Starts all of it; it works when this returns. */
  void start(HttpClient http) throws IOException, InterruptedException;

  int otlpPort();

  /** Where Prometheus would scrape it. */
  URI page();

  /** What its CPU and memory are counted of. */
  List<Program> programs();

  /**
   * Waits until nothing that was sent waits to be aggregated, as far as can be told from outside:
   * for the rate only, the page decides what counts.
   *
   * @param spans all that it has answered since its start
   */
  void awaitTaken(long spans) throws IOException, InterruptedException;

  /** Milliseconds until what it has aggregated by then gets on its page. */
  long millisToNextPage();

  @Override
  void close();
}
