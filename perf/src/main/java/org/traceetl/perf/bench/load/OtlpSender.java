package org.traceetl.perf.bench.load;

import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
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

  /**
   * Sends a request and waits for the answer.
   *
   * @return null if the request was accepted, else the reason
   */
  default String await(byte[] request) throws InterruptedException {
    CompletableFuture<Optional<String>> answer = new CompletableFuture<>();
    send(request, refusal -> answer.complete(Optional.ofNullable(refusal)));
    try {
      return answer.get().orElse(null);
    } catch (ExecutionException e) {
      throw new IllegalStateException(e);
    }
  }

  @Override
  void close();
}
