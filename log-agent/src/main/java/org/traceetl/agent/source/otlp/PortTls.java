package org.traceetl.agent.source.otlp;

import io.grpc.netty.shaded.io.grpc.netty.GrpcSslContexts;
import io.grpc.netty.shaded.io.netty.handler.ssl.ClientAuth;
import io.grpc.netty.shaded.io.netty.handler.ssl.SslContext;
import io.grpc.netty.shaded.io.netty.handler.ssl.SslContextBuilder;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.security.cert.X509Certificate;
import java.time.Instant;
import java.time.InstantSource;
import org.traceetl.agent.access.TlsFiles;
import org.traceetl.agent.access.TlsMaterial;

/** TLS of both ports, by the files as they were when they were last right. */
final class PortTls {
  private static final String[] PROTOCOLS = {"TLSv1.3", "TLSv1.2"};

  private final TlsFiles files;
  private final InstantSource clock;
  private final RotatingTls grpc;
  private final RotatingTls http;
  // Of the one who reads the files anew.
  private ByteBuffer inForce;
  private volatile Instant end;

  /**
   * @throws IOException when the files cannot be read, or would not serve
   */
  PortTls(TlsFiles files, InstantSource clock) throws IOException {
    this.files = files;
    this.clock = clock;
    TlsFiles.Contents contents = files.read();
    TlsMaterial material = TlsMaterial.of(contents, clock.instant());
    grpc = new RotatingTls(grpc(material));
    http = new RotatingTls(http(material));
    inForce = contents.fingerprint();
    end = material.end();
  }

  SslContext grpc() {
    return grpc;
  }

  SslContext http() {
    return http;
  }

  /** When the certificate in force ends. */
  Instant end() {
    return end;
  }

  /**
   * Has new connections use the files as they are now.
   *
   * @return true if they are others
   * @throws IOException when they would not serve; all stays as it was
   */
  boolean reload() throws IOException {
    TlsFiles.Contents contents = files.read();
    ByteBuffer now = contents.fingerprint();
    if (now.equals(inForce)) {
      return false;
    }
    TlsMaterial material = TlsMaterial.of(contents, clock.instant());
    SslContext nextGrpc = grpc(material);
    SslContext nextHttp = http(material);
    grpc.use(nextGrpc);
    http.use(nextHttp);
    inForce = now;
    end = material.end();
    return true;
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
