package org.traceetl.server.ozhera;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.util.Arrays;
import java.util.List;

/**
 * Takes secrets out of texts: the password in {@code user:password@} of a URL, and what stands
 * behind a name such as {@code password}, in a connection string, a statement or JSON. A question
 * mark, which is a parameter of a statement, stays. Takes rather too much than too little. One
 * owner thread.
 */
final class Secrets {
  /** What a text is: where its secrets may stand. */
  enum Kind {
    /** Of an operation, such as a path: in URLs and behind an equals sign. */
    NAME,
    /** SQL or JSON: behind a colon and in quotes as well. */
    STATEMENT,
    /** The same, and it may be a URL without a scheme. */
    CONNECTION
  }

  /** There is no secret in the text. */
  static final int UNCHANGED = -1;

  private static final byte[] MASK = "***".getBytes(US_ASCII);
  private static final byte[] SCHEME_END = "://".getBytes(US_ASCII);
  private static final byte[] IDENTIFIED = "identified".getBytes(US_ASCII);
  private static final byte[] SET_PASSWORD = "set password".getBytes(US_ASCII);
  private static final byte[] BY = "by".getBytes(US_ASCII);
  private static final byte[] PASS = "pass".getBytes(US_ASCII);

  /** Parts of names that have a secret as value; lower case. */
  private static final byte[][] NAMES =
      List.of(
              "password",
              "passwd",
              "passphrase",
              "pwd",
              "secret",
              "token",
              "credential",
              "accesskey",
              "access_key",
              "access-key",
              "apikey",
              "api_key",
              "api-key",
              "privatekey",
              "private_key",
              "private-key")
          .stream()
          .map(name -> name.getBytes(US_ASCII))
          .toArray(byte[][]::new);

  private static final int MAX_NAME = 64;

  private boolean isName;
  private byte[] in = new byte[0];
  private int start;
  private int end;

  private byte[] out = new byte[256];
  private int written;

  /** Up to here the text is written. */
  private int from;

  /**
   * Writes a text without its secrets to {@link #buffer}.
   *
   * @return the bytes written, or {@link #UNCHANGED} and none are
   */
  int write(byte[] text, int offset, int length, Kind kind) {
    in = text;
    start = offset;
    end = offset + length;
    from = offset;
    written = 0;
    isName = kind == Kind.NAME;
    if (kind == Kind.CONNECTION && !has(SCHEME_END, end)) {
      maskUserInfo(offset);
    }
    int at = Math.max(from, offset);
    while (at < end) {
      maskAt(at);
      at = Math.max(at + 1, from);
    }
    if (from == start) {
      return UNCHANGED;
    }
    copy(end);
    return written;
  }

  /** Where the text is that was written last. */
  byte[] buffer() {
    return out;
  }

  private void maskAt(int at) {
    switch (in[at]) {
      case ':' -> {
        if (hasAt(at, SCHEME_END)) {
          maskUserInfo(at + SCHEME_END.length);
        } else if (!isName && isSecret(at)) {
          maskValue(at + 1);
        }
      }
      case '=' -> {
        if (isSecret(at) || hasAt(start, SET_PASSWORD)) {
          maskValue(at + 1);
        }
      }
      case '(' -> {
        if (!isName && at > start && isNamePart(in[at - 1]) && isSecret(at)) {
          maskValue(at + 1);
        }
      }
      case '\'', '"' -> {
        // Not the quote that ends a name, as in JSON.
        if (!isName && at > start && in[at - 1] == ' ' && (isSecret(at) || isIdentifiedBy(at))) {
          maskValue(at);
        }
      }
      default -> {}
    }
  }

  /** Masks what stands between the first colon and the last @ of an authority that begins there. */
  private void maskUserInfo(int at) {
    int colon = -1;
    int atSign = -1;
    boolean path = false;
    for (int i = at; i < end && !isEndOfAuthority(in[i]); i++) {
      if (in[i] == ':' && colon < 0 && !path) {
        colon = i;
      } else if (in[i] == '@' && colon >= 0) {
        atSign = i;
      } else if (in[i] == '/') {
        if (atSign >= 0 || colon < 0 || isNumber(colon + 1, i)) {
          break;
        }
        // No port: a password with a slash in it.
        path = true;
      }
    }
    if (atSign > colon + 1) {
      mask(colon + 1, atSign);
    }
  }

  private static boolean isEndOfAuthority(byte b) {
    return b == '?' || b == '#' || b == '\'' || b == '"' || b >= 0 && b <= ' ';
  }

  private boolean isNumber(int at, int to) {
    for (int i = at; i < to; i++) {
      if (in[i] < '0' || in[i] > '9') {
        return false;
      }
    }
    return true;
  }

  /** Whether the name before a place says that a secret follows. */
  private boolean isSecret(int at) {
    int to = nameEnd(at);
    int first = to;
    while (first > start && to - first < MAX_NAME && isNamePart(in[first - 1])) {
      first--;
    }
    for (byte[] name : NAMES) {
      for (int i = first; i + name.length <= to; i++) {
        if (hasAt(i, name)) {
          return true;
        }
      }
    }
    return to - first == 4 && hasAt(first, PASS);
  }

  /** Where the name ends that stands before a place, with spaces or a quote between them. */
  private int nameEnd(int at) {
    int to = at;
    while (to > start && in[to - 1] == ' ') {
      to--;
    }
    if (to > start && (in[to - 1] == '"' || in[to - 1] == '\'' || in[to - 1] == '`')) {
      to--;
    }
    return to;
  }

  private boolean isIdentifiedBy(int at) {
    int to = nameEnd(at) - BY.length;
    if (to < start || !hasAt(to, BY)) {
      return false;
    }
    return has(IDENTIFIED, to);
  }

  private boolean has(byte[] lowerCase, int to) {
    for (int i = start; i < to; i++) {
      if (hasAt(i, lowerCase)) {
        return true;
      }
    }
    return false;
  }

  private static boolean isNamePart(byte b) {
    return b >= 'a' && b <= 'z'
        || b >= 'A' && b <= 'Z'
        || b >= '0' && b <= '9'
        || b == '_'
        || b == '-'
        || b == '.';
  }

  private void maskValue(int at) {
    int first = at;
    while (first < end && in[first] == ' ') {
      first++;
    }
    if (first == end) {
      return;
    }
    byte quote = in[first];
    if (quote == '\'' || quote == '"' || quote == '`') {
      mask(first + 1, quoteEnd(first + 1, quote));
      return;
    }
    int to = first;
    while (to < end && !isEndOfValue(in[to])) {
      to++;
    }
    boolean parameter = in[first] == '?' && (to == first + 1 || in[first + 1] == ',');
    if (!parameter) {
      mask(first, to);
    }
  }

  private int quoteEnd(int at, byte quote) {
    int i = at;
    while (i < end) {
      if (in[i] == '\\') {
        i++;
      } else if (in[i] == quote) {
        // Twice: it is part of the value.
        if (i + 1 == end || in[i + 1] != quote) {
          return i;
        }
        i++;
      }
      i++;
    }
    return end;
  }

  private static boolean isEndOfValue(byte b) {
    return b == '&' || b == ';' || b == ')' || b == '}' || b >= 0 && b <= ' ';
  }

  private boolean hasAt(int at, byte[] lowerCase) {
    if (at + lowerCase.length > end) {
      return false;
    }
    for (int i = 0; i < lowerCase.length; i++) {
      byte b = in[at + i];
      if ((b >= 'A' && b <= 'Z' ? b | 0x20 : b) != lowerCase[i]) {
        return false;
      }
    }
    return true;
  }

  private void mask(int at, int to) {
    if (at < to) {
      copy(at);
      write(MASK, 0, MASK.length);
      from = to;
    }
  }

  private void copy(int to) {
    write(in, from, to - from);
    from = to;
  }

  private void write(byte[] bytes, int offset, int length) {
    if (written + length > out.length) {
      out = Arrays.copyOf(out, Math.max(written + length, out.length * 2));
    }
    System.arraycopy(bytes, offset, out, written, length);
    written += length;
  }
}
