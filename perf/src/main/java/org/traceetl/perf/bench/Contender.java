package org.traceetl.perf.bench;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.util.List;
import org.traceetl.testkit.Program;

/** A system that receives OTLP over gRPC and shows span metrics, in its own processes. */
public interface Contender extends AutoCloseable {
  /** Starts all programs; they are ready when this method returns. */
  void start(HttpClient http) throws IOException, InterruptedException;

  int otlpPort();

  /** Returns the address that Prometheus would scrape. */
  URI page();

  /** Returns the programs whose CPU and memory count. */
  List<Program> programs();

  /**
   * Waits until all spans are aggregated, as far as is visible from outside. This affects only the
   * rate; the page decides what counts.
   *
   * @param spans all spans that it has accepted since its start
   */
  void awaitTaken(long spans) throws IOException, InterruptedException;

  /** Returns the milliseconds until the spans aggregated by then appear on its page. */
  long millisToNextPage();

  @Override
  void close();
}
