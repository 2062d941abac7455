package org.traceetl.server.consume.queue;

import java.util.Arrays;
import org.traceetl.server.edge.EdgeHeads;
import org.traceetl.server.series.SeriesTable;
import org.traceetl.server.series.SymbolTable;

/**
 * The texts of an edge's series in addition to its application, as slices of other arrays: the
 * server, the connection type, and the values of the dimensions of the client, then of the server.
 * Mutable and reused. Confined to one thread.
 */
final class EdgeTexts {
  private static final int SERVER = 0;
  private static final int TYPE = 1;
  private static final int VALUES = 2;
  private static final long MIX = 0x9E37_79B9_7F4A_7C15L;
  private static final byte[] EMPTY = {};

  private final int dimensions;
  private final byte[][] bytes;
  private final int[] offsets;
  private final int[] lengths;

  /**
   * @param dimensions number of values of an end
   */
  EdgeTexts(int dimensions) {
    this.dimensions = dimensions;
    bytes = new byte[VALUES + 2 * dimensions][];
    offsets = new int[bytes.length];
    lengths = new int[bytes.length];
  }

  /**
   * Begins with texts without values.
   *
   * @param server empty if it is unknown
   * @param type empty for a call
   */
  void set(byte[] server, byte[] type) {
    set(SERVER, server, 0, server.length);
    set(TYPE, type, 0, type.length);
    Arrays.fill(bytes, VALUES, bytes.length, EMPTY);
    Arrays.fill(lengths, VALUES, lengths.length, 0);
  }

  private void set(int text, byte[] buffer, int offset, int length) {
    bytes[text] = buffer;
    offsets[text] = offset;
    lengths[text] = length;
  }

  /** Adds the values of a head's end. */
  void add(EdgeHeads heads, int head, boolean isServer) {
    for (int i = 0; i < dimensions; i++) {
      byte[] value = heads.value(head, i);
      set(first(isServer) + i, value, 0, value.length);
    }
  }

  /**
   * Adds the values of an end.
   *
   * @param slices offset and length of each value, from {@code at} on
   */
  void add(byte[] buffer, int[] slices, int at, boolean isServer) {
    for (int i = 0; i < dimensions; i++) {
      set(first(isServer) + i, buffer, slices[at + 2 * i], slices[at + 2 * i + 1]);
    }
  }

  private int first(boolean isServer) {
    return isServer ? VALUES + dimensions : VALUES;
  }

  /** Sets the symbols in a series' key; returns whether the table has all texts. */
  boolean find(SymbolTable symbols, int[] key) {
    boolean areKnown = true;
    for (int text = 0; text < bytes.length; text++) {
      int symbol =
          isAbsent(text)
              ? SymbolTable.NONE
              : symbols.find(bytes[text], offsets[text], lengths[text]);
      key[position(text)] = symbol;
      areKnown &= symbol >= SymbolTable.NONE;
    }
    return areKnown;
  }

  /** Creates the symbols that {@link #find} does not find; returns whether all had room. */
  boolean intern(SymbolTable symbols, int[] key) {
    boolean haveRoom = true;
    for (int text = 0; text < bytes.length; text++) {
      int symbol =
          isAbsent(text)
              ? SymbolTable.NONE
              : symbols.intern(bytes[text], offsets[text], lengths[text]);
      key[position(text)] = symbol;
      haveRoom &= symbol >= SymbolTable.NONE;
    }
    return haveRoom;
  }

  /** Returns whether a series lacks a text. It always has a server, which may be empty. */
  private boolean isAbsent(int text) {
    return text != SERVER && lengths[text] == 0;
  }

  private static int position(int text) {
    return text == SERVER ? SeriesTable.NAME : SeriesTable.DIMENSIONS + text - TYPE;
  }

  /** Returns the hash of the texts, which differs between tables. */
  long hash(SymbolTable symbols) {
    long hash = 0;
    for (int text = 0; text < bytes.length; text++) {
      if (!isAbsent(text)) {
        long fingerprint = symbols.fingerprint(bytes[text], offsets[text], lengths[text]);
        hash = (hash ^ fingerprint ^ text) * MIX;
        hash ^= hash >>> 32;
      }
    }
    return hash;
  }
}
