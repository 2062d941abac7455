package org.traceetl.perf.bench.load;

import java.util.function.Consumer;

/** Sends OTLP trace requests without waiting for their answers. */
public interface OtlpSender extends AutoCloseable {
  /**
   * Sends a request, which must stay as it is until it is answered.
   *
   * @param answered told once, on any thread: null when the request was taken, else why it was not
   */
  void send(byte[] request, Consumer<String> answered);

  @Override
  void close();
}
