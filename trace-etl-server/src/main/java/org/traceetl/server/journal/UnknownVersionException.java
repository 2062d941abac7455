package org.traceetl.server.journal;

/**
 * What a later version of this software wrote. Whoever skips it loses what is in it and all that
 * builds on it, so it stops a reader.
 */
final class UnknownVersionException extends MalformedRecordException {
  private static final long serialVersionUID = 1;

  /**
   * @param known the last version that this reader knows
   */
  UnknownVersionException(int version, int known) {
    super("has version " + version + ": this server reads up to " + known);
  }
}
