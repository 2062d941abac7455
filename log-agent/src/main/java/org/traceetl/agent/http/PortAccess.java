package org.traceetl.agent.http;

import java.io.IOException;
import java.time.InstantSource;
import java.util.Optional;
import org.traceetl.agent.access.BearerTokens;
import org.traceetl.agent.access.TlsFiles;
import org.traceetl.agent.access.TlsInForce;
import org.traceetl.agent.access.TokenSource;

/**
 * Access control of a port: its certificates and tokens, which can be reloaded while it is open.
 */
public final class PortAccess {
  private final Optional<TlsInForce> tls;
  private final TokenSource source;
  private final BearerTokens tokens;

  /**
   * Reads the files of a port.
   *
   * @param files if empty, the port has no TLS
   * @param use receives the certificates, now and after each reload
   * @throws IOException if the certificates or tokens cannot be read or used
   */
  public PortAccess(
      Optional<TlsFiles> files, TokenSource source, InstantSource clock, TlsInForce.Use use)
      throws IOException {
    this.tls =
        files.isPresent() ? Optional.of(new TlsInForce(files.get(), clock, use)) : Optional.empty();
    this.source = source;
    this.tokens = new BearerTokens(source);
  }

  /** Returns whether connections use TLS. */
  public boolean hasTls() {
    return tls.isPresent();
  }

  /** Returns whether the tokens are read from a file. */
  public boolean hasTokenFile() {
    return source.file().isPresent();
  }

  /** Returns the tokens in force. */
  public BearerTokens tokens() {
    return tokens;
  }

  /**
   * Uses the current content of the certificate files for new connections; open ones keep theirs.
   *
   * @return true if the content has changed
   * @throws IOException if it cannot be used; the previous one stays in force
   */
  public boolean reloadTls() throws IOException {
    return tls.isPresent() && tls.get().reload();
  }

  /**
   * Reloads the token file; from then on only its tokens are valid.
   *
   * @return true if they have changed
   * @throws IOException if it has no valid tokens; the previous ones stay in force
   */
  public boolean reloadTokens() throws IOException {
    return tokens.reload();
  }

  /** Returns when the certificate expires, in seconds since 1970; 0 without TLS. */
  public long certificateEndSeconds() {
    return tls.map(certificate -> certificate.end().getEpochSecond()).orElse(0L);
  }
}
