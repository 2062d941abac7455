package org.traceetl.server.rocketmq;

/** RocketMQ's client would not speak TLS as it is configured. The message is for the operator. */
public final class TlsRefused extends RuntimeException {
  private static final long serialVersionUID = 1L;

  TlsRefused(String problem, Throwable cause) {
    super("trace-etl.rocketmq.tls = true: " + problem, cause);
  }
}
