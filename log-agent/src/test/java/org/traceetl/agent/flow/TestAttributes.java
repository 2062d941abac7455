package org.traceetl.agent.flow;

import static java.nio.charset.StandardCharsets.UTF_8;

/** Attributes from texts. */
public final class TestAttributes {
  private TestAttributes() {}

  /** Appends an attribute. */
  public static void add(Attributes attributes, String key, String value) {
    byte[] keyBytes = key.getBytes(UTF_8);
    byte[] valueBytes = value.getBytes(UTF_8);
    attributes.add(keyBytes, 0, keyBytes.length, valueBytes, 0, valueBytes.length);
  }
}
