package org.traceetl.agent.telemetry;

import io.grpc.netty.shaded.io.netty.buffer.ByteBufAllocator;
import io.grpc.netty.shaded.io.netty.handler.ssl.ClientAuth;
import io.grpc.netty.shaded.io.netty.handler.ssl.SslContext;
import io.grpc.netty.shaded.io.netty.handler.ssl.SslContextBuilder;
import io.grpc.netty.shaded.io.netty.handler.ssl.SslHandler;
import io.grpc.netty.shaded.io.netty.handler.ssl.SslProvider;
import java.io.IOException;
import java.security.cert.X509Certificate;
import java.time.Instant;
import java.time.InstantSource;
import org.traceetl.agent.access.TlsFiles;
import org.traceetl.agent.access.TlsInForce;
import org.traceetl.agent.access.TlsMaterial;

/**
 * TLS of the telemetry port: each connection is by the files as they were when they were last
 * right. Sessions belong to the files they were made under, so none is resumed under others.
 */
final class TelemetryTls {
  private static final String[] PROTOCOLS = {"TLSv1.3", "TLSv1.2"};

  private final TlsInForce inForce;
  private volatile SslContext newest;

  /**
   * @throws IOException when the files cannot be read, or would not serve
   */
  TelemetryTls(TlsFiles files, InstantSource clock) throws IOException {
    inForce = new TlsInForce(files, clock, material -> newest = context(material));
  }

  /** For a connection to come. */
  SslHandler newHandler(ByteBufAllocator buffers) {
    return newest.newHandler(buffers);
  }

  /** When the certificate in force ends. */
  Instant end() {
    return inForce.end();
  }

  /**
   * Has new connections use the files as they are now.
   *
   * @return true if they are others
   * @throws IOException when they would not serve; all stays as it was
   */
  boolean reload() throws IOException {
    return inForce.reload();
  }

  private static SslContext context(TlsMaterial material) throws IOException {
    SslContextBuilder builder =
        SslContextBuilder.forServer(
                material.privateKey(), material.chain().toArray(X509Certificate[]::new))
            // What it holds is on the heap, and is gone with its connection.
            .sslProvider(SslProvider.JDK)
            .protocols(PROTOCOLS);
    if (!material.clientCas().isEmpty()) {
      builder
          .trustManager(material.clientCas().toArray(X509Certificate[]::new))
          .clientAuth(ClientAuth.REQUIRE);
    }
    return builder.build();
  }
}
