package org.traceetl.agent.access;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Instant;
import java.time.InstantSource;

/** A port's certificate and key by its files, as they were when they were last right. */
public final class TlsInForce {
  private final TlsFiles files;
  private final InstantSource clock;
  private final Use use;
  // Of the one who reads the files anew.
  private ByteBuffer inForce;
  private volatile Instant end;

  /** What is done with them. */
  @FunctionalInterface
  public interface Use {
    /**
     * Has new connections use these.
     *
     * @throws IOException when they cannot be used; then nothing may have changed
     */
    void use(TlsMaterial material) throws IOException;
  }

  /**
   * Has the files used as they are now.
   *
   * @throws IOException when they cannot be read, or would not serve
   */
  public TlsInForce(TlsFiles files, InstantSource clock, Use use) throws IOException {
    this.files = files;
    this.clock = clock;
    this.use = use;
    take(files.read());
  }

  /** When the certificate ends. Safe for any thread. */
  public Instant end() {
    return end;
  }

  /**
   * Has the files used as they are now. For one thread at a time.
   *
   * @return true if they are others
   * @throws IOException when they would not serve; all stays as it was
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
