package org.traceetl.server.features.push;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** A string of requests, as UTF-8 with its hash. Immutable. */
final class Symbol {
  static final Symbol EMPTY = new Symbol(new byte[0]);

  final byte[] utf8;
  final int hash;

  /**
   * @param utf8 not copied
   */
  Symbol(byte[] utf8) {
    this.utf8 = utf8;
    hash = Arrays.hashCode(utf8);
  }

  static Symbol of(String text) {
    return new Symbol(text.getBytes(StandardCharsets.UTF_8));
  }

  boolean isEmpty() {
    return utf8.length == 0;
  }

  /** Compares as Prometheus sorts labels: by bytes. */
  int compareTo(Symbol other) {
    return Arrays.compareUnsigned(utf8, other.utf8);
  }

  @Override
  public boolean equals(Object object) {
    return object instanceof Symbol other
        && (other == this || (hash == other.hash && Arrays.equals(utf8, other.utf8)));
  }

  @Override
  public int hashCode() {
    return hash;
  }

  @Override
  public String toString() {
    return new String(utf8, StandardCharsets.UTF_8);
  }
}
