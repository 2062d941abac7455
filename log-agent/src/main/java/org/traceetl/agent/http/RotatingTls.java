package org.traceetl.agent.http;

import io.grpc.netty.shaded.io.netty.buffer.ByteBufAllocator;
import io.grpc.netty.shaded.io.netty.handler.ssl.ApplicationProtocolNegotiator;
import io.grpc.netty.shaded.io.netty.handler.ssl.ClientAuth;
import io.grpc.netty.shaded.io.netty.handler.ssl.SslContext;
import io.grpc.netty.shaded.io.netty.handler.ssl.SslContextBuilder;
import java.security.cert.X509Certificate;
import java.util.List;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLSessionContext;
import org.traceetl.agent.access.TlsMaterial;

/**
 * A TLS context that can be replaced: new connections use the newest one, open ones keep theirs.
 * Sessions belong to a context, so a session of earlier certificates is never resumed. Safe for any
 * thread.
 */
public final class RotatingTls extends SslContext {
  private static final String[] PROTOCOLS = {"TLSv1.3", "TLSv1.2"};

  private volatile SslContext newest;

  /**
   * Returns a server's builder with these certificates; if there are CAs, clients must present a
   * certificate.
   */
  public static SslContextBuilder builder(TlsMaterial material) {
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

  /** Sets the context for new connections. Call before the first connection. */
  public void use(SslContext next) {
    newest = next;
  }

  @Override
  public SSLEngine newEngine(ByteBufAllocator allocator) {
    return newest.newEngine(allocator);
  }

  @Override
  public SSLEngine newEngine(ByteBufAllocator allocator, String peerHost, int peerPort) {
    return newest.newEngine(allocator, peerHost, peerPort);
  }

  @Override
  public boolean isClient() {
    return newest.isClient();
  }

  @Override
  public List<String> cipherSuites() {
    return newest.cipherSuites();
  }

  @Override
  public ApplicationProtocolNegotiator applicationProtocolNegotiator() {
    return newest.applicationProtocolNegotiator();
  }

  @Override
  public SSLSessionContext sessionContext() {
    return newest.sessionContext();
  }
}
