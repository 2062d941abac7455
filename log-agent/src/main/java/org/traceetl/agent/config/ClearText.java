package org.traceetl.agent.config;

import java.net.InetSocketAddress;
import java.util.Optional;
import org.traceetl.agent.access.TlsFiles;
import org.traceetl.agent.access.TokenSource;

/** Detects tokens that are sent without TLS. */
final class ClearText {
  private ClearText() {}

  /**
   * Returns whether clients of the port send their tokens over the network in clear text.
   *
   * @param host address of the port; an address that cannot be resolved is not loopback
   */
  static boolean hasTokens(String host, Optional<TlsFiles> tls, TokenSource tokens) {
    return tls.isEmpty() && !tokens.isNone() && !isLoopback(host);
  }

  private static boolean isLoopback(String host) {
    InetSocketAddress address = new InetSocketAddress(host, 0);
    return !address.isUnresolved() && address.getAddress().isLoopbackAddress();
  }
}
