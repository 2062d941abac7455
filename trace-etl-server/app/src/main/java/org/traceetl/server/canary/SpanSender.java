package org.traceetl.server.canary;

import java.net.ConnectException;

/** Sends probes to an agent. */
interface SpanSender extends AutoCloseable {
  /** What a request came to. */
  enum Outcome {
    ACCEPTED,
    /** The agent did not get the request, or refused it before it counted spans. */
    REFUSED,
    /** The agent may have accepted the request. */
    UNKNOWN
  }

  /**
   * The end of an attempt.
   *
   * @param rejected number of spans that the agent rejected of an accepted request
   * @param reason why the request was not accepted; empty if it was
   */
  record Answer(Outcome outcome, int rejected, String reason) {
    static Answer accepted(byte[] body) {
      return new Answer(Outcome.ACCEPTED, PartialSuccess.rejected(body), "");
    }

    static Answer failed(Outcome outcome, String reason) {
      return new Answer(outcome, 0, reason);
    }
  }

  /**
   * Sends a probe, and waits for the answer up to the timeout. The same probe is a repeat: the
   * agent must count it once.
   */
  Answer send(Probe probe) throws InterruptedException;

  @Override
  void close();

  /** Returns whether no connection was opened, so that the agent got nothing. */
  static boolean isNotConnected(Throwable failure) {
    for (Throwable one = failure; one != null; one = one.getCause()) {
      if (one instanceof ConnectException) {
        return true;
      }
    }
    return false;
  }
}
