package org.traceetl.agent.flow;

/**
 * What a source finds again after a restart. It is kept together with the spans of its payload:
 * both are on disk or neither is.
 */
public sealed interface Checkpoint {
  /**
   * Where a source goes on. Of one name the last one counts.
   *
   * @param name of what is read, such as a file's key; up to 64 KiB as UTF-8
   * @param content the source's own; up to 64 KiB as UTF-8; empty: the name is forgotten
   */
  record Position(String name, String content) implements Checkpoint {}

  /**
   * A request, by its bytes: an equal one is a repeat.
   *
   * @param hash XXH64 of its bytes
   * @param otherHash of its bytes, by another function: CRC-32C
   * @param length bytes
   */
  record Request(long hash, long otherHash, int length) implements Checkpoint {}
}
