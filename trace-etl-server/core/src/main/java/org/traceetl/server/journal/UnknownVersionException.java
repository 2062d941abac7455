package org.traceetl.server.journal;

/**
 * What a later version of this software wrote. Whoever skips it loses what is in it and all that
 * builds on it, so it stops a reader.
 */
final class UnknownVersionException extends MalformedRecordException {
  private static final long serialVersionUID = 1;

  private final String remedy;

  /**
   * @param known the last version that this reader knows
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

  String remedy() {
    return remedy;
  }
}
