package org.traceetl.agent.access;

import java.io.IOException;
import java.nio.file.Path;

/**
 * Thrown when a certificate or key file is not usable. The message names the file, the problem and
 * the remedy.
 */
public final class TlsFileException extends IOException {
  private static final long serialVersionUID = 1;

  private final transient Path file;
  private final String problem;

  TlsFileException(Path file, String problem) {
    super(file + ": " + problem);
    this.file = file;
    this.problem = problem;
  }

  /** Returns the unusable file. */
  public Path file() {
    return file;
  }

  /** Returns the problem and the remedy, without the file's name. */
  public String problem() {
    return problem;
  }
}
