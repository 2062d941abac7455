package org.traceetl.agent.flow;

/**
 * State that a source gets back after a restart. It is committed with the spans of its payload:
 * both are on disk, or neither is.
 */
public sealed interface Checkpoint {
  /**
   * Where a source continues. The last position of a name counts.
   *
   * @param name name of the input, such as a file's key; up to 64 KiB as UTF-8
   * @param content defined by the source; up to 64 KiB as UTF-8; if empty, the name is removed
   */
  record Position(String name, String content) implements Checkpoint {}

  /**
   * A request, identified by its bytes; an equal one is a repeat.
   *
   * @param hash CRC-32 of its bytes
   * @param otherHash CRC-32C of its bytes
   * @param length number of bytes
   */
  record Request(long hash, long otherHash, int length) implements Checkpoint {}
}
