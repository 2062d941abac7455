package org.traceetl.perf.bench.load;

import java.util.function.Consumer;

/** Sends OTLP trace requests without waiting for their answers. */
public interface OtlpSender extends AutoCloseable {
  /**
   * Sends a request; the caller must not change it until it is answered.
   *
   * @param answered called once, on any thread: with null if the request was accepted, else with
   *     the reason
   */
  void send(byte[] request, Consumer<String> answered);

  @Override
  void close();
}
