package org.traceetl.perf.bench.load;

import java.io.IOException;
import java.util.Map;
import org.traceetl.perf.bench.process.Usage;

/** Sends spans to one receiver. For one thread. */
@FunctionalInterface
public interface Load extends AutoCloseable {
  /**
   * Sends for a duration, and returns when every span has been received or refused.
   *
   * @param spansPerSecond above 0; the load catches up after delays
   * @throws IOException if spans were lost on the way
   */
  ExportLoad.Sent send(long nanos, double spansPerSecond) throws IOException, InterruptedException;

  /** Returns the sending programs whose CPU and memory are part of the cost, by name. */
  default Map<String, Usage> programs() {
    return Map.of();
  }

  @Override
  default void close() {}
}
