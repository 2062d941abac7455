package org.traceetl.server.features.push;

import java.io.IOException;

/** Sends encoded requests to one endpoint. Thread-safe. Simulations replace it. */
public interface WriteTransport extends AutoCloseable {
  /** A number of written elements that the receiver did not say. */
  int UNKNOWN = -1;

  /**
   * Sends a request and waits for the answer.
   *
   * @param body whose first {@code length} bytes are the request
   * @throws IOException if there is no answer
   */
  Answer send(Protocol protocol, byte[] body, int length) throws IOException, InterruptedException;

  @Override
  void close();

  /**
   * An answer.
   *
   * @param status of HTTP
   * @param samples written samples; {@link #UNKNOWN} if the receiver does not say it
   * @param histograms written native histograms, in the same way
   * @param rejected points that a receiver of OTLP rejected although it accepted the request
   * @param retryAfterMillis how long the receiver asks to wait; 0 if it does not
   * @param text the begin of the body, or its message
   */
  record Answer(
      int status, int samples, int histograms, long rejected, long retryAfterMillis, String text) {
    /** An answer of Remote Write. */
    public Answer(int status, int samples, int histograms, long retryAfterMillis, String text) {
      this(status, samples, histograms, 0, retryAfterMillis, text);
    }

    /** Returns whether the receiver says how much it has written, as those of 2.0 do. */
    boolean saysWritten() {
      return samples != UNKNOWN || histograms != UNKNOWN;
    }
  }
}
