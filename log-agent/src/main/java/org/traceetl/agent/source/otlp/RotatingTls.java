package org.traceetl.agent.source.otlp;

import io.grpc.netty.shaded.io.netty.buffer.ByteBufAllocator;
import io.grpc.netty.shaded.io.netty.handler.ssl.ApplicationProtocolNegotiator;
import io.grpc.netty.shaded.io.netty.handler.ssl.SslContext;
import java.util.List;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLSessionContext;

/**
 * Gives each new connection the newest of the contexts it was told to use; a connection keeps the
 * one it began with. Sessions belong to a context, so none is resumed that was made under
 * certificates of before. Safe for any thread.
 */
final class RotatingTls extends SslContext {
  private volatile SslContext newest;

  /** To be called before the first connection. */
  void use(SslContext next) {
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
