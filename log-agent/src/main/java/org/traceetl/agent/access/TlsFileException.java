package org.traceetl.agent.access;

import java.io.IOException;
import java.nio.file.Path;

/** A file of certificates or a key is not usable. The message says which, why and what to do. */
public final class TlsFileException extends IOException {
  private static final long serialVersionUID = 1;

  private final transient Path file;
  private final String problem;

  TlsFileException(Path file, String problem) {
    super(file + ": " + problem);
    this.file = file;
    this.problem = problem;
  }

  /** The file at fault. */
  public Path file() {
    return file;
  }

  /** What is wrong with it and what to do, without its name. */
  public String problem() {
    return problem;
  }
}
