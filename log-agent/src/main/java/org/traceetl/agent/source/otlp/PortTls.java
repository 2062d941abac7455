package org.traceetl.agent.source.otlp;

import io.grpc.netty.shaded.io.grpc.netty.GrpcSslContexts;
import io.grpc.netty.shaded.io.netty.handler.ssl.ClientAuth;
import io.grpc.netty.shaded.io.netty.handler.ssl.SslContext;
import io.grpc.netty.shaded.io.netty.handler.ssl.SslContextBuilder;
import java.io.IOException;
import java.security.cert.X509Certificate;
import java.time.Instant;
import java.time.InstantSource;
import org.traceetl.agent.access.TlsFiles;
import org.traceetl.agent.access.TlsInForce;
import org.traceetl.agent.access.TlsMaterial;

/** TLS of both ports, by the files as they were when they were last right. */
final class PortTls {
  private static final String[] PROTOCOLS = {"TLSv1.3", "TLSv1.2"};

  private final RotatingTls grpc = new RotatingTls();
  private final RotatingTls http = new RotatingTls();
  private final TlsInForce inForce;

  /**
   * @throws IOException when the files cannot be read, or would not serve
   */
  PortTls(TlsFiles files, InstantSource clock) throws IOException {
    inForce = new TlsInForce(files, clock, this::use);
  }

  private void use(TlsMaterial material) throws IOException {
    SslContext nextGrpc = grpc(material);
    SslContext nextHttp = http(material);
    grpc.use(nextGrpc);
    http.use(nextHttp);
  }

  SslContext grpc() {
    return grpc;
  }

  SslContext http() {
    return http;
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

  private static SslContext grpc(TlsMaterial material) throws IOException {
    // It adds the negotiation of HTTP/2.
    return GrpcSslContexts.configure(builder(material)).build();
  }

  private static SslContext http(TlsMaterial material) throws IOException {
    return builder(material).build();
  }

  private static SslContextBuilder builder(TlsMaterial material) {
    SslContextBuilder builder =
        SslContextBuilder.forServer(
                material.privateKey(), material.chain().toArray(X509Certificate[]::new))
            .protocols(PROTOCOLS);
    return material.clientCas().isEmpty()
        ? builder
        : builder
            .trustManager(material.clientCas().toArray(X509Certificate[]::new))
            .clientAuth(ClientAuth.REQUIRE);
  }
}
