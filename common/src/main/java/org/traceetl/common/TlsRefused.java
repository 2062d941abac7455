package org.traceetl.common;

/**
 * Thrown when RocketMQ's client would not use TLS as configured. The message is for the operator.
 */
public final class TlsRefused extends RuntimeException {
  private static final long serialVersionUID = 1L;

  TlsRefused(String problem, Throwable cause) {
    super(problem, cause);
  }
}
