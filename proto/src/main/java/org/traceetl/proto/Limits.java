package org.traceetl.proto;

/** Bounds of a batch. The writer keeps them, the reader refuses what breaks them. */
public final class Limits {
  /** Largest message, bytes: RocketMQ's default maximum. */
  public static final int MAX_MESSAGE_BYTES = 4 * 1024 * 1024;

  /** Most spans in a batch. */
  public static final int MAX_SPANS = 65_536;

  /** Most dictionary entries in a batch. */
  public static final int MAX_DICTIONARY_ENTRIES = 262_144;

  /** Longest dictionary entry, bytes. */
  public static final int MAX_STRING_BYTES = 65_535;

  /** Most attributes of one span or of the resource. */
  public static final int MAX_ATTRIBUTES = 1_024;

  private Limits() {}
}
