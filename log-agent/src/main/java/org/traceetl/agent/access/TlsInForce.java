package org.traceetl.agent.access;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Instant;
import java.time.InstantSource;

/** A port's certificate and key in force: the last valid contents of its files. */
public final class TlsInForce {
  private final TlsFiles files;
  private final InstantSource clock;
  private final Use use;
  // Confined to the reloading thread.
  private ByteBuffer inForce;
  private volatile Instant end;

  /** Receives certificates and keys. */
  @FunctionalInterface
  public interface Use {
    /**
     * Uses the material for new connections.
     *
     * @throws IOException if it cannot be used; then nothing may have changed
     */
    void use(TlsMaterial material) throws IOException;
  }

  /**
   * Reads the files and uses their contents.
   *
   * @throws IOException if they cannot be read or used
   */
  public TlsInForce(TlsFiles files, InstantSource clock, Use use) throws IOException {
    this.files = files;
    this.clock = clock;
    this.use = use;
    take(files.read());
  }

  /** Returns when the certificate expires. Safe for any thread. */
  public Instant end() {
    return end;
  }

  /**
   * Reloads the files. Call from one thread at a time.
   *
   * @return true if they have changed
   * @throws IOException if they cannot be read or used; the previous contents stay in force
   */
  public boolean reload() throws IOException {
    TlsFiles.Contents contents = files.read();
    if (contents.fingerprint().equals(inForce)) {
      return false;
    }
    take(contents);
    return true;
  }

  private void take(TlsFiles.Contents contents) throws IOException {
    TlsMaterial material = TlsMaterial.of(contents, clock.instant());
    use.use(material);
    inForce = contents.fingerprint();
    end = material.end();
  }
}
