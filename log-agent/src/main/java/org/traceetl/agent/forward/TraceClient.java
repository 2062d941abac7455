package org.traceetl.agent.forward;

import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import org.traceetl.agent.flow.OtlpFormat;

/** Sends requests to an endpoint. */
interface TraceClient extends AutoCloseable {
  /**
   * An answer.
   *
   * @param retryAfterMillis how long the endpoint asks to wait; 0 if it does not
   * @param rejectedSpans of a request that was accepted
   * @param text begin of the body, printable
   */
  record Answer(int status, long retryAfterMillis, long rejectedSpans, String text) {}

  /**
   * Sends a body, and does not wait for the answer.
   *
   * @return fails if there is no answer
   * @throws IOException if the headers cannot be read
   */
  CompletableFuture<Answer> send(OtlpFormat format, Blocks body) throws IOException;

  /** Ends all requests without an answer. */
  @Override
  void close();
}
