package org.traceetl.server.rocketmq;

import org.apache.rocketmq.acl.common.AclClientRPCHook;
import org.apache.rocketmq.acl.common.SessionCredentials;
import org.apache.rocketmq.client.ClientConfig;
import org.apache.rocketmq.remoting.RPCHook;
import org.apache.rocketmq.remoting.netty.TlsSystemConfig;
import org.traceetl.server.config.RocketMqConfig;

/** Keys and TLS of RocketMQ's clients. */
public final class RocketMqAccess {
  private RocketMqAccess() {}

  /** What a client signs with; null where brokers ask for nothing. */
  public static RPCHook credentials(RocketMqConfig config) {
    return config.accessKey().isEmpty()
        ? null
        : new AclClientRPCHook(
            new SessionCredentials(config.accessKey(), config.secretKey().value()));
  }

  /**
   * Has a client speak TLS, if it is to. Before anything else is made of it.
   *
   * <p>As it comes, the client takes any certificate. It has these settings for the whole JVM only,
   * and reads them when it starts.
   */
  public static void secure(ClientConfig client, RocketMqConfig config) {
    client.setUseTLS(config.tls());
    if (config.tls()) {
      TlsSystemConfig.tlsTestModeEnable = false;
      TlsSystemConfig.tlsClientAuthServer = true;
      if (config.tlsCaFile() != null) {
        TlsSystemConfig.tlsClientTrustCertPath = config.tlsCaFile().toString();
      }
    }
  }
}
