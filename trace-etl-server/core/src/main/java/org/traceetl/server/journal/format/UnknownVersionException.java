package org.traceetl.server.journal.format;

/**
 * Thrown for a record of a later version of this software. It stops a reader, because skipping it
 * would lose its content and everything that depends on it.
 */
public final class UnknownVersionException extends MalformedRecordException {
  private static final long serialVersionUID = 1;

  private final String remedy;

  /**
   * @param known the latest version that this reader knows
   */
  UnknownVersionException(int version, int known) {
    this(
        "has version " + version + ": this server reads up to " + known,
        "a later version wrote it: start that version on this server as well");
  }

  /**
   * @param remedy what an operator can do
   */
  UnknownVersionException(String message, String remedy) {
    super(message);
    this.remedy = remedy;
  }

  public String remedy() {
    return remedy;
  }
}
