package org.traceetl.server.rocketmq;

import org.apache.rocketmq.client.ClientConfig;
import org.apache.rocketmq.remoting.RPCHook;
import org.traceetl.common.RocketMqSecurity;
import org.traceetl.common.TlsRefused;
import org.traceetl.server.config.RocketMqConfig;

/** Configures credentials, TLS and compatibility with older brokers for RocketMQ's clients. */
public final class RocketMqAccess {
  private RocketMqAccess() {}

  /** Returns a hook that signs requests if configured, and adapts them to older brokers. */
  public static RPCHook hook(RocketMqConfig config) {
    return new OlderBrokers(
        config.secretKey() == null
            ? null
            : RocketMqSecurity.signer(config.accessKey(), config.secretKey().value()));
  }

  /**
   * Makes a client use TLS, if configured. Call it before the client starts.
   *
   * @throws TlsRefused if TLS cannot be set up as configured
   */
  public static void secure(ClientConfig client, RocketMqConfig config) {
    if (config.tls()) {
      RocketMqSecurity.useTls(client, config.tlsCaFile(), "trace-etl.rocketmq.");
    }
  }
}
