package org.traceetl.server.rocketmq;

import java.io.IOException;
import java.security.GeneralSecurityException;
import java.util.Objects;
import org.apache.rocketmq.acl.common.AclClientRPCHook;
import org.apache.rocketmq.acl.common.SessionCredentials;
import org.apache.rocketmq.client.ClientConfig;
import org.apache.rocketmq.remoting.RPCHook;
import org.apache.rocketmq.remoting.netty.TlsHelper;
import org.apache.rocketmq.remoting.netty.TlsSystemConfig;
import org.traceetl.server.config.RocketMqConfig;

/** Keys, TLS and the age of brokers, for RocketMQ's clients. */
public final class RocketMqAccess {
  private RocketMqAccess() {}

  /** Signs a client's requests where brokers ask for it, and asks older ones as they know it. */
  public static RPCHook hook(RocketMqConfig config) {
    return new OlderBrokers(
        config.accessKey().isEmpty()
            ? null
            : new AclClientRPCHook(
                new SessionCredentials(config.accessKey(), config.secretKey().value())));
  }

  /**
   * Has a client speak TLS, if it is to. Before anything else is made of it.
   *
   * <p>As it comes, the client takes any certificate. It has these settings for the whole JVM only,
   * and reads them when it starts. What it cannot read it passes over, and speaks in the clear: so
   * all is read here once before.
   *
   * @throws TlsRefused when TLS would not be as it is configured
   */
  public static void secure(ClientConfig client, RocketMqConfig config) {
    client.setUseTLS(config.tls());
    if (config.tls()) {
      TlsSystemConfig.tlsTestModeEnable = false;
      TlsSystemConfig.tlsClientAuthServer = true;
      if (config.tlsCaFile() != null) {
        TlsSystemConfig.tlsClientTrustCertPath = config.tlsCaFile().toString();
      }
      check();
    }
  }

  private static void check() {
    String roots = TlsSystemConfig.tlsClientTrustCertPath;
    try {
      TlsHelper.buildSslContext(true);
    } catch (IOException | GeneralSecurityException | RuntimeException e) {
      throw new TlsRefused(
          "TLS cannot be set up ("
              + e
              + "): check trace-etl.rocketmq.tls-ca-file = "
              + TlsSystemConfig.tlsClientTrustCertPath
              + ", tls.client.certPath = "
              + TlsSystemConfig.tlsClientCertPath
              + ", tls.client.keyPath = "
              + TlsSystemConfig.tlsClientKeyPath,
          e);
    }
    // That has read the client's own file of settings.
    if (TlsSystemConfig.tlsTestModeEnable
        || !TlsSystemConfig.tlsClientAuthServer
        || !Objects.equals(TlsSystemConfig.tlsClientTrustCertPath, roots)) {
      throw new TlsRefused(
          TlsSystemConfig.tlsConfigFile
              + " has the RocketMQ client check certificates otherwise: take tls.test.mode.enable,"
              + " tls.client.authServer and tls.client.trustCertPath out of it",
          null);
    }
  }
}
