package org.traceetl.server.http;

/** A resource whose unchanged answers are not sent again. */
public interface Cacheable {
  /**
   * Returns what changes whenever an answer may, whatever the parameters; null if only the answer
   * itself tells.
   */
  String tag();
}
