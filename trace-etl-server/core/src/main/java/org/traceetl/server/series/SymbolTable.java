package org.traceetl.server.series;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.Arrays;

/**
 * The strings of one queue as numbers. A string is hashed and compared once per batch; all further
 * work uses numbers.
 *
 * <p>Symbols count the series and applications that use them. Unused ones live until {@link
 * #sweep}, so a batch may create a symbol before it uses it. Malformed UTF-8 is repaired, and equal
 * repaired texts share a symbol. One owner thread.
 */
public final class SymbolTable {
  /** No symbol: the span lacks the value. */
  public static final int NONE = -1;

  /** The table has no room for a new string. */
  public static final int FULL = -2;

  /** The table does not have the string. */
  public static final int ABSENT = -3;

  /** The limits of the table. */
  enum Bound {
    SYMBOLS,
    BYTES
  }

  private final int maxSymbols;
  private final long maxBytes;
  private final int maxValueBytes;

  /** Differs between tables, so that an attacker cannot prepare collisions. */
  private final long seed;

  private final HashIndex index = new HashIndex(256);
  private final IntStack free = new IntStack();

  /** Symbols that were unused when created or released; some may be in use again. */
  private final IntStack unused = new IntStack();

  private byte[][] strings = new byte[256][];
  private int[] hashes = new int[256];
  private int[] uses = new int[256];
  private int numbers;
  private long bytes;

  /** The limit that refused a string since the last {@link #sweep}, or null. */
  private Bound fullOf;

  /**
   * @param maxSymbols maximum number of symbols
   * @param maxBytes maximum total size of strings
   * @param maxValueBytes longer strings are cut, at a UTF-8 boundary
   * @param seed of the hashes; random
   */
  public SymbolTable(int maxSymbols, long maxBytes, int maxValueBytes, long seed) {
    this.maxSymbols = maxSymbols;
    this.maxBytes = maxBytes;
    this.maxValueBytes = maxValueBytes;
    this.seed = seed;
  }

  /** Returns the symbol of a string, or {@link #ABSENT}. */
  public int find(byte[] buffer, int offset, int length) {
    int kept = Utf8.cut(buffer, offset, length, maxValueBytes);
    int symbol = findExact(buffer, offset, kept);
    if (symbol == ABSENT && !Utf8.isAscii(buffer, offset, kept)) {
      byte[] repaired = repaired(buffer, offset, kept);
      return findExact(repaired, 0, repaired.length);
    }
    return symbol;
  }

  /** As {@link #find}, of a text of rules, which is valid UTF-8 and not cut. */
  public int findRule(byte[] text) {
    return findExact(text, 0, text.length);
  }

  /** As {@link #intern}, of a text of rules, which is valid UTF-8 and not cut. */
  public int internRule(byte[] text) {
    int symbol = findRule(text);
    return symbol != ABSENT ? symbol : insert(text);
  }

  private int findExact(byte[] buffer, int offset, int length) {
    int hash = hash(buffer, offset, length);
    for (int slot = index.first(hash); index.isTaken(slot); slot = index.next(slot)) {
      if (index.hasHash(slot, hash)) {
        byte[] string = strings[index.number(slot)];
        if (Arrays.equals(string, 0, string.length, buffer, offset, offset + length)) {
          return index.number(slot);
        }
      }
    }
    return ABSENT;
  }

  /** Returns or creates the symbol of a string; {@link #FULL} if there is no room. */
  public int intern(byte[] buffer, int offset, int length) {
    int symbol = find(buffer, offset, length);
    if (symbol != ABSENT) {
      return symbol;
    }
    int kept = Utf8.cut(buffer, offset, length, maxValueBytes);
    return hasRoom(kept) ? insert(repaired(buffer, offset, kept)) : FULL;
  }

  private boolean hasRoom(int length) {
    if (index.size() >= maxSymbols) {
      fullOf = Bound.SYMBOLS;
      return false;
    }
    if (bytes + length > maxBytes) {
      fullOf = Bound.BYTES;
      return false;
    }
    return true;
  }

  /** Returns the limit that refused a string since the last {@link #sweep}, or null. */
  Bound fullOf() {
    return fullOf;
  }

  /** Returns whether a string was refused since the last {@link #sweep}. */
  public boolean lackedRoom() {
    return fullOf != null;
  }

  /** Returns whether there is no room for any string. */
  public boolean isFull() {
    return index.size() >= maxSymbols || bytes >= maxBytes;
  }

  /** Returns the string as valid UTF-8; repair may make it longer. */
  private static byte[] repaired(byte[] buffer, int offset, int length) {
    return new String(buffer, offset, length, UTF_8).getBytes(UTF_8);
  }

  /** Returns or creates the symbol of another process' text, uncut and regardless of the limits. */
  int restore(String text) {
    byte[] string = text.getBytes(UTF_8);
    int symbol = findExact(string, 0, string.length);
    return symbol != ABSENT ? symbol : add(string);
  }

  private int insert(byte[] string) {
    return hasRoom(string.length) ? add(string) : FULL;
  }

  private int add(byte[] string) {
    int hash = hash(string, 0, string.length);
    int symbol = free.isEmpty() ? numbers++ : free.pop();
    if (symbol == strings.length) {
      strings = Arrays.copyOf(strings, symbol * 2);
      hashes = Arrays.copyOf(hashes, symbol * 2);
      uses = Arrays.copyOf(uses, symbol * 2);
    }
    strings[symbol] = string;
    hashes[symbol] = hash;
    bytes += string.length;
    index.add(hash, symbol);
    unused.push(symbol);
    return symbol;
  }

  /**
   * Returns a hash of the cut string, which differs between tables. Strings of malformed UTF-8 may
   * differ even if their repaired texts are equal.
   */
  public long fingerprint(byte[] buffer, int offset, int length) {
    return TextHash.of(seed, buffer, offset, Utf8.cut(buffer, offset, length, maxValueBytes));
  }

  private int hash(byte[] buffer, int offset, int length) {
    long hash = TextHash.of(seed, buffer, offset, length);
    return (int) (hash ^ (hash >>> 32));
  }

  /** Returns the symbol's text. */
  public String text(int symbol) {
    return new String(strings[symbol], UTF_8);
  }

  /** Returns the symbol's text, cut to the given number of bytes. */
  String text(int symbol, int maxBytes) {
    byte[] string = strings[symbol];
    return new String(string, 0, Utf8.cut(string, 0, string.length, maxBytes), UTF_8);
  }

  void retain(int symbol) {
    uses[symbol]++;
  }

  void release(int symbol) {
    if (--uses[symbol] == 0) {
      unused.push(symbol);
    }
  }

  /** Removes unused symbols. Numbers from earlier lookups become invalid. */
  public void sweep() {
    fullOf = null;
    while (!unused.isEmpty()) {
      int symbol = unused.pop();
      if (uses[symbol] == 0 && strings[symbol] != null) {
        index.remove(hashes[symbol], symbol);
        bytes -= strings[symbol].length;
        strings[symbol] = null;
        free.push(symbol);
      }
    }
  }

  /** Returns the number of symbols. */
  public int size() {
    return index.size();
  }
}
