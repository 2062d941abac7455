package org.traceetl.server.rocketmq;

import org.apache.rocketmq.client.ClientConfig;
import org.apache.rocketmq.remoting.RPCHook;
import org.traceetl.common.RocketMqSecurity;
import org.traceetl.common.TlsRefused;
import org.traceetl.server.config.RocketMqConfig;

/** Keys, TLS and the age of brokers, for RocketMQ's clients. */
public final class RocketMqAccess {
  private RocketMqAccess() {}

  /** Signs a client's requests where brokers ask for it, and asks older ones as they know it. */
  public static RPCHook hook(RocketMqConfig config) {
    return new OlderBrokers(
        config.secretKey() == null
            ? null
            : RocketMqSecurity.signer(config.accessKey(), config.secretKey().value()));
  }

  /**
   * Has a client use TLS, if the configuration says so. To be called before the client starts.
   *
   * @throws TlsRefused when TLS would not be as it is configured
   */
  public static void secure(ClientConfig client, RocketMqConfig config) {
    if (config.tls()) {
      RocketMqSecurity.useTls(client, config.tlsCaFile(), "trace-etl.rocketmq.");
    }
  }
}
