package org.traceetl.server.ozhera;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.Arrays;
import org.traceetl.server.decode.SpanColumns;
import org.traceetl.server.decode.Texts;
import org.traceetl.server.series.Utf8;

/**
 * Makes label values from the texts of a batch, each once: without secrets, cut, or combined. A
 * value that is a part of a text refers to it. Not thread-safe.
 */
final class Labels {
  private static final int NONE = SpanColumns.NONE;
  private static final int NOT_MADE = -2;

  /** Longer values are cut, regardless of the limit of series. */
  private static final int MAX_BYTES = 1 << 10;

  /**
   * Maximum length that is examined. Text after a secret helps to detect it, so the text is not cut
   * earlier.
   */
  private static final int SEEN_BYTES = 1 << 12;

  /** OzHera cuts a text that is longer than this to one character less. */
  private static final int MAX_CHARS = 100;

  private static final int UNCUT = Integer.MAX_VALUE;

  /** Maximum size of all combined pairs of one batch. */
  private static final int MAX_MADE_BYTES = 1 << 24;

  private static final int PAIRS = 1 << 6;

  private final SecretMask secrets = new SecretMask();
  private Texts texts;

  // By text of the message: its value.
  private int[] safeOf = new int[256];
  private int[] shortOf = new int[256];
  private int[] commandOf = new int[256];
  private int[] connectionOf = new int[256];

  // By the hash of two texts: the two texts and their combined value.
  private final int[] firstOfPair = new int[PAIRS];
  private final int[] secondOfPair = new int[PAIRS];
  private final int[] pairs = new int[PAIRS];
  private int madeBytes;
  private byte[] scratch = new byte[MAX_BYTES];

  /** Starts a batch. */
  void begin(Texts texts) {
    this.texts = texts;
    int size = texts.size();
    if (safeOf.length < size) {
      int capacity = Math.max(size, safeOf.length * 2);
      safeOf = new int[capacity];
      shortOf = new int[capacity];
      commandOf = new int[capacity];
      connectionOf = new int[capacity];
    }
    Arrays.fill(safeOf, 0, size, NOT_MADE);
    Arrays.fill(shortOf, 0, size, NOT_MADE);
    Arrays.fill(commandOf, 0, size, NOT_MADE);
    Arrays.fill(connectionOf, 0, size, NOT_MADE);
    Arrays.fill(pairs, NOT_MADE);
    madeBytes = 0;
  }

  /** Returns an ASCII value that is the same in every batch. */
  int constant(byte[] ascii) {
    return texts.make(ascii, 0, ascii.length);
  }

  static byte[] ascii(String text) {
    return text.getBytes(US_ASCII);
  }

  /** Returns a name of the message without secrets. */
  int safe(int text) {
    if (text == NONE) {
      return NONE;
    }
    int made = safeOf[text];
    if (made == NOT_MADE) {
      made = withoutSecrets(text, UNCUT, SecretMask.Kind.NAME);
      safeOf[text] = made;
    }
    return made;
  }

  /** Returns a connection string of the message without secrets. */
  int connection(int text) {
    if (text == NONE) {
      return NONE;
    }
    int made = connectionOf[text];
    if (made == NOT_MADE) {
      made = withoutSecrets(text, UNCUT, SecretMask.Kind.CONNECTION);
      connectionOf[text] = made;
    }
    return made;
  }

  /** Returns a text of the message without secrets, cut as OzHera cuts statements in labels. */
  int cut(int text) {
    if (text == NONE) {
      return NONE;
    }
    int made = shortOf[text];
    if (made == NOT_MADE) {
      made = withoutSecrets(text, MAX_CHARS, SecretMask.Kind.STATEMENT);
      shortOf[text] = made;
    }
    return made;
  }

  /**
   * Returns a text of the message without secrets, cut to less than the given number of characters.
   * Allocates.
   */
  String statement(int text, int maxChars, int maxBytes) {
    byte[] from = texts.buffer(text);
    int offset = texts.offset(text);
    int length = texts.length(text);
    int written = writeWithoutSecrets(text, SecretMask.Kind.STATEMENT);
    if (written != SecretMask.UNCHANGED) {
      from = secrets.buffer();
      offset = 0;
      length = written;
    }
    int kept = Utf8.cut(from, offset, kept(from, offset, length, maxChars), maxBytes);
    return new String(from, offset, kept, UTF_8);
  }

  /**
   * Returns the command of a Redis statement: its first word without question marks, cut as OzHera
   * cuts it; {@link SpanColumns#NONE} without one.
   */
  int command(int statement) {
    int made = commandOf[statement];
    if (made == NOT_MADE) {
      made = firstWord(statement, MAX_CHARS);
      commandOf[statement] = made;
    }
    return made;
  }

  /** Returns the command without cutting it. */
  int wholeCommand(int statement) {
    return firstWord(statement, UNCUT);
  }

  private int firstWord(int statement, int maxChars) {
    byte[] buffer = texts.buffer(statement);
    int start = texts.offset(statement);
    int end = start + texts.length(statement);
    int from = start;
    while (from < end && (buffer[from] == '?' || SecretMask.isBlank(buffer[from]))) {
      from++;
    }
    int to = from;
    boolean whole = true;
    while (to < end && !endsWord(buffer, to, end) && to - from < MAX_BYTES) {
      whole &= buffer[to] != '?';
      to++;
    }
    if (from == to) {
      return NONE;
    }
    int word =
        whole ? texts.part(statement, from - start, to - from) : withoutMarks(buffer, from, to);
    return withoutSecrets(word, maxChars, SecretMask.Kind.STATEMENT);
  }

  private int withoutMarks(byte[] buffer, int from, int to) {
    int length = 0;
    for (int i = from; i < to; i++) {
      if (buffer[i] != '?') {
        scratch[length++] = buffer[i];
      }
    }
    return texts.make(scratch, 0, length);
  }

  private static boolean endsWord(byte[] buffer, int at, int end) {
    return SecretMask.isBlank(buffer[at]) || SecretMask.isEscapedBlank(buffer, at, end);
  }

  /** Returns two values with a slash between them; an absent value is empty. */
  int pair(int first, int second) {
    int slot = (first * 31 + second) & PAIRS - 1;
    if (pairs[slot] != NOT_MADE && firstOfPair[slot] == first && secondOfPair[slot] == second) {
      return pairs[slot];
    }
    int length = length(first) + 1 + length(second);
    if (madeBytes + length > MAX_MADE_BYTES) {
      return first;
    }
    madeBytes += length;
    if (scratch.length < length) {
      scratch = new byte[Math.max(length, scratch.length * 2)];
    }
    int at = copy(first, 0);
    scratch[at] = '/';
    int end = copy(second, at + 1);
    firstOfPair[slot] = first;
    secondOfPair[slot] = second;
    pairs[slot] = texts.make(scratch, 0, end);
    return pairs[slot];
  }

  private int length(int text) {
    return text == NONE ? 0 : Math.min(texts.length(text), MAX_BYTES);
  }

  private int copy(int text, int at) {
    int length = length(text);
    if (length > 0) {
      System.arraycopy(texts.buffer(text), texts.offset(text), scratch, at, length);
    }
    return at + length;
  }

  private int withoutSecrets(int text, int maxChars, SecretMask.Kind kind) {
    int written = writeWithoutSecrets(text, kind);
    if (written != SecretMask.UNCHANGED) {
      byte[] masked = secrets.buffer();
      return texts.make(masked, 0, kept(masked, 0, written, maxChars));
    }
    int length = texts.length(text);
    int kept = kept(texts.buffer(text), texts.offset(text), length, maxChars);
    return kept == length ? text : texts.part(text, 0, kept);
  }

  private int writeWithoutSecrets(int text, SecretMask.Kind kind) {
    byte[] buffer = texts.buffer(text);
    int offset = texts.offset(text);
    int seen = Utf8.cut(buffer, offset, texts.length(text), SEEN_BYTES);
    return secrets.write(buffer, offset, seen, kind);
  }

  private static int kept(byte[] buffer, int offset, int length, int maxChars) {
    return Utf8.cut(buffer, offset, cut(buffer, offset, length, maxChars), MAX_BYTES);
  }

  /**
   * Returns the number of bytes that remain if a text with more of Java's characters is cut to one
   * less than the limit; a surrogate pair is not split.
   */
  static int cut(byte[] buffer, int offset, int length, int maxChars) {
    if (length <= maxChars) {
      return length;
    }
    int chars = 0;
    int kept = -1;
    for (int i = 0; i < length; i++) {
      int b = buffer[offset + i] & 0xFF;
      if ((b & 0xC0) == 0x80) {
        continue;
      }
      int width = b >= 0xF0 ? 2 : 1;
      if (kept < 0 && chars + width > maxChars - 1) {
        kept = i;
      }
      chars += width;
      if (chars > maxChars) {
        return kept;
      }
    }
    return length;
  }
}
