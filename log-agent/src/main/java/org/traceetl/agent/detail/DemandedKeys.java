package org.traceetl.agent.detail;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.List;
import org.traceetl.agent.flow.KeySet;

/** The keys of span attributes that groups have. Immutable. */
final class DemandedKeys {
  private final List<String> names;
  private final List<byte[]> bytes;
  private final KeySet set;

  DemandedKeys(List<String> names) {
    this.names = names;
    bytes = names.stream().map(key -> key.getBytes(UTF_8)).toList();
    set = new KeySet(bytes);
  }

  List<String> names() {
    return names;
  }

  List<byte[]> bytes() {
    return bytes;
  }

  KeySet set() {
    return set;
  }

  boolean contains(byte[] key, int offset, int length) {
    return set.contains(key, offset, length);
  }
}
