package org.traceetl.common;

import java.io.IOException;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.util.Objects;
import org.apache.rocketmq.acl.common.AclClientRPCHook;
import org.apache.rocketmq.acl.common.SessionCredentials;
import org.apache.rocketmq.client.ClientConfig;
import org.apache.rocketmq.remoting.RPCHook;
import org.apache.rocketmq.remoting.netty.TlsHelper;
import org.apache.rocketmq.remoting.netty.TlsSystemConfig;

/** Credentials and TLS of RocketMQ's clients. */
public final class RocketMqSecurity {
  private RocketMqSecurity() {}

  /**
   * Returns a hook that signs a client's requests.
   *
   * @param accessKey empty if brokers require no credentials
   * @return null if brokers require no credentials
   */
  public static RPCHook signer(String accessKey, String secretKey) {
    return accessKey.isEmpty()
        ? null
        : new AclClientRPCHook(new SessionCredentials(accessKey, secretKey));
  }

  /**
   * Configures a client to use TLS and check certificates. Call before the client starts.
   *
   * <p>By default the client accepts any certificate. Its settings apply to the whole JVM, and it
   * reads them when it starts. If it cannot read them, it connects without TLS; so this method
   * reads them first.
   *
   * @param caFile PEM file of accepted root certificates; null for those of the JVM
   * @param prefix of the configuration's keys, such as {@code rocketmq.}
   * @throws TlsRefused if TLS cannot be used as configured
   */
  public static void useTls(ClientConfig client, Path caFile, String prefix) {
    client.setUseTLS(true);
    TlsSystemConfig.tlsTestModeEnable = false;
    TlsSystemConfig.tlsClientAuthServer = true;
    if (caFile != null) {
      TlsSystemConfig.tlsClientTrustCertPath = caFile.toString();
    }
    String roots = TlsSystemConfig.tlsClientTrustCertPath;
    try {
      TlsHelper.buildSslContext(true);
    } catch (IOException | GeneralSecurityException | RuntimeException e) {
      throw new TlsRefused(
          prefix
              + "tls = true: TLS cannot be set up ("
              + e
              + "): check "
              + prefix
              + "tls-ca-file = "
              + TlsSystemConfig.tlsClientTrustCertPath
              + ", tls.client.certPath = "
              + TlsSystemConfig.tlsClientCertPath
              + ", tls.client.keyPath = "
              + TlsSystemConfig.tlsClientKeyPath,
          e);
    }
    // The call above has read the client's own settings file.
    if (TlsSystemConfig.tlsTestModeEnable
        || !TlsSystemConfig.tlsClientAuthServer
        || !Objects.equals(TlsSystemConfig.tlsClientTrustCertPath, roots)) {
      throw new TlsRefused(
          prefix
              + "tls = true: "
              + TlsSystemConfig.tlsConfigFile
              + " has the RocketMQ client check certificates otherwise: take tls.test.mode.enable,"
              + " tls.client.authServer and tls.client.trustCertPath out of it",
          null);
    }
  }
}
