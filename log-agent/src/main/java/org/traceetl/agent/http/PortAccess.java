package org.traceetl.agent.http;

import java.io.IOException;
import java.time.InstantSource;
import java.util.Optional;
import org.traceetl.agent.access.BearerTokens;
import org.traceetl.agent.access.TlsFiles;
import org.traceetl.agent.access.TlsInForce;
import org.traceetl.agent.access.TokenSource;

/** Who may use a port: its certificates and tokens, which can be reloaded while it is open. */
public final class PortAccess {
  private final Optional<TlsInForce> tls;
  private final TokenSource source;
  private final BearerTokens tokens;

  /**
   * Reads the files of a port.
   *
   * @param files empty: the port is without TLS
   * @param use takes the certificates, now and after each reload
   * @throws IOException when the certificates or tokens cannot be read or used
   */
  public PortAccess(
      Optional<TlsFiles> files, TokenSource source, InstantSource clock, TlsInForce.Use use)
      throws IOException {
    this.tls =
        files.isPresent() ? Optional.of(new TlsInForce(files.get(), clock, use)) : Optional.empty();
    this.source = source;
    this.tokens = new BearerTokens(source);
  }

  /** Whether connections use TLS. */
  public boolean hasTls() {
    return tls.isPresent();
  }

  /** Whether the tokens are read from a file. */
  public boolean hasTokenFile() {
    return source.file().isPresent();
  }

  /** The tokens in force. */
  public BearerTokens tokens() {
    return tokens;
  }

  /**
   * Uses the current content of the certificate files for new connections; open ones keep theirs.
   *
   * @return true if the content has changed
   * @throws IOException when it cannot be used; the previous one stays in force
   */
  public boolean reloadTls() throws IOException {
    return tls.isPresent() && tls.get().reload();
  }

  /**
   * Admits the tokens that the file has now, and no others.
   *
   * @return true if they have changed
   * @throws IOException when there are none; the previous ones stay in force
   */
  public boolean reloadTokens() throws IOException {
    return tokens.reload();
  }

  /** When the certificate ends, seconds since 1970; 0 without TLS. */
  public long certificateEndSeconds() {
    return tls.map(certificate -> certificate.end().getEpochSecond()).orElse(0L);
  }
}
