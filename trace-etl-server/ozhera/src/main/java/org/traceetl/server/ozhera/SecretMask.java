package org.traceetl.server.ozhera;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Takes secrets out of texts, and rather too much than too little. A secret is
 *
 * <pre>
 * "://" user ":" SECRET "@"             up to the last @ before the next key
 * name [quote] sign SECRET              password=…, "pwd": "…", user[token]=…
 * "identified" … "by" SECRET            in a statement
 * quote SECRET quote                    in a statement that has such a name anywhere, unless it is JSON
 * </pre>
 *
 * A key begins at {@code & ; , ?} with a name and an equals sign behind it. Where it cannot be told
 * whether a quote ends a value, nothing behind it is kept. A question mark, which is a parameter of
 * a statement, stays. One owner thread.
 */
final class SecretMask {
  /** The kind of a text, which determines where secrets may be. */
  enum Kind {
    /** Name of an operation, such as a path: secrets in URLs and after an equals sign. */
    NAME,
    /** SQL or JSON: secrets also after other signs and in quotes. */
    STATEMENT,
    /** A URL, possibly without a scheme, or keys and values; a secret may contain blanks. */
    CONNECTION
  }

  /**
   * A name whose value is a secret, or a part of such a name.
   *
   * @param text lower case
   * @param begins whether the name must begin with it
   * @param ends whether the name must end with it
   */
  private record Name(byte[] text, boolean begins, boolean ends) {}

  /** The text contains no secret. */
  static final int UNCHANGED = -1;

  private static final int NONE = -1;
  private static final int MAX_PORT_DIGITS = 5;
  private static final byte[] MASK = ascii("***");
  private static final byte[] SCHEME_END = ascii("://");
  private static final byte[] IDENTIFIED = ascii("identified");
  private static final byte[] BY = ascii("by");
  private static final byte[] LINE_COMMENT = ascii("--");
  private static final byte[] COMMENT = ascii("/*");
  private static final byte[] ESCAPED_EQUALS = ascii("%3d");

  /** By first byte, in either case. */
  private static final Name[][] NAMES = new Name[256][];

  static {
    List<Name> names = new ArrayList<>();
    for (String part :
        List.of(
            "password",
            "passwd",
            "passphrase",
            "passcode",
            "pwd",
            "secret",
            "token",
            "credential",
            "signature",
            "accountkey",
            "account_key",
            "accesskey",
            "access_key",
            "access-key",
            "apikey",
            "api_key",
            "api-key",
            "privatekey",
            "private_key",
            "private-key")) {
      names.add(new Name(ascii(part), false, false));
    }
    names.add(new Name(ascii("pass"), false, true));
    names.add(new Name(ascii("pw"), true, true));
    names.add(new Name(ascii("sig"), true, true));
    for (int letter = 'a'; letter <= 'z'; letter++) {
      byte first = (byte) letter;
      Name[] those = names.stream().filter(name -> name.text[0] == first).toArray(Name[]::new);
      if (those.length > 0) {
        NAMES[letter] = those;
        NAMES[letter & ~0x20] = those;
      }
    }
  }

  private Kind kind = Kind.NAME;
  private byte[] in = new byte[0];
  private int start;
  private int end;

  /** Whether all text in quotes is masked. */
  private boolean masksQuoted;

  /** Whether a comment has begun, in which a quote may be an apostrophe. */
  private boolean commented;

  private boolean identified;

  /** Position up to which no at sign follows that could end a password. */
  private int noAtSignBefore;

  private byte[] out = new byte[256];
  private int written;

  /** Position up to which the text is written. */
  private int from;

  private static byte[] ascii(String text) {
    return text.getBytes(US_ASCII);
  }

  /**
   * Writes a text without its secrets to {@link #buffer}.
   *
   * @return the number of bytes, or {@link #UNCHANGED} if nothing was written
   */
  int write(byte[] text, int offset, int length, Kind kind) {
    this.kind = kind;
    in = text;
    start = offset;
    end = offset + length;
    from = offset;
    written = 0;
    noAtSignBefore = offset;
    commented = false;
    identified = false;
    masksQuoted = kind == Kind.STATEMENT && !isJson() && isQuotedAndNamed();
    int at = kind == Kind.CONNECTION && !hasScheme() ? pastUserInfo(start) : start;
    while (at < end) {
      at = past(at);
    }
    if (from == start) {
      return UNCHANGED;
    }
    copy(end);
    return written;
  }

  /** Returns the buffer that contains the latest text. */
  byte[] buffer() {
    return out;
  }

  private boolean isJson() {
    int at = pastBlanks(start);
    if (at >= end || in[at] != '{' && in[at] != '[') {
      return false;
    }
    at = pastBlanks(at + 1);
    return at < end && "\"{[}]".indexOf(in[at]) >= 0;
  }

  private boolean isQuotedAndNamed() {
    boolean quoted = false;
    boolean named = false;
    for (int at = start; at < end && !(quoted && named); at++) {
      quoted |= isQuote(in[at]) || isDollarQuote(at);
      named = named || pastName(at) != NONE || isAt(at, IDENTIFIED);
    }
    return quoted && named;
  }

  /** Returns whether the byte occurs before the first at sign. */
  private boolean hasScheme() {
    for (int at = start; at < end && in[at] != '@'; at++) {
      if (isAt(at, SCHEME_END)) {
        return true;
      }
    }
    return false;
  }

  /** Masks the secret that begins here; returns the position after it. */
  private int past(int at) {
    switch (in[at]) {
      case ':' -> {
        return isAt(at, SCHEME_END) ? pastUserInfo(at + SCHEME_END.length) : at + 1;
      }
      case '\'', '"' -> {
        return masksQuoted ? pastQuoted(at) : at + 1;
      }
      case '#' -> commented = true;
      case '-', '/' -> commented |= isAt(at, LINE_COMMENT) || isAt(at, COMMENT);
      case '$' -> {
        if (masksQuoted && isDollarQuote(at)) {
          return mask(at + 2, end);
        }
      }
      case 'i', 'I' -> identified |= isAt(at, IDENTIFIED);
      case 'b', 'B' -> {
        if (identified && kind == Kind.STATEMENT && isWord(at, BY)) {
          return pastValue(pastBlanks(at + BY.length));
        }
      }
      default -> {
        int to = pastName(at);
        return to == NONE ? at + 1 : pastAssigned(to);
      }
    }
    return at + 1;
  }

  /** Masks from the first colon to the last at sign of the authority that begins here. */
  private int pastUserInfo(int at) {
    // An address in brackets.
    if (at < noAtSignBefore || at < end && in[at] == '[') {
      return at;
    }
    int colon = NONE;
    int atSign = NONE;
    int i = at;
    for (; i < end && (kind == Kind.CONNECTION || !isBlank(in[i])); i++) {
      if (in[i] == ':' && colon == NONE) {
        colon = i;
      } else if (in[i] == ':' && isAt(i, SCHEME_END) && isHost(at, colon, i)) {
        return at;
      } else if (in[i] == '@' && colon != NONE) {
        atSign = i;
      } else if (isKey(i)) {
        if (atSign != NONE) {
          break;
        }
        if (isHost(at, colon, i)) {
          return at;
        }
      } else if (atSign == NONE && (in[i] == '/' || in[i] == '?' || in[i] == '#')) {
        boolean maybeSecret = kind == Kind.CONNECTION && colon != NONE;
        if (!maybeSecret && isHost(at, colon, i)) {
          return at;
        }
      }
    }
    if (atSign == NONE) {
      noAtSignBefore = i;
      return at;
    }
    return mask(colon + 1, atSign);
  }

  /** Returns whether the text before a position is a host, with or without a port. */
  private boolean isHost(int at, int colon, int to) {
    if (colon == NONE) {
      return true;
    }
    int i = colon + 1;
    while (i < to && i - colon <= MAX_PORT_DIGITS && in[i] >= '0' && in[i] <= '9') {
      i++;
    }
    return colon > at && (i == to || in[i] == '/' || in[i] == ',');
  }

  /** Returns the end of the name of a secret that begins here; {@link #NONE} for none. */
  private int pastName(int at) {
    Name[] names = NAMES[in[at] & 0xFF];
    if (names == null) {
      return NONE;
    }
    for (Name name : names) {
      int to = at + name.text.length;
      if (isAt(at, name.text)
          && (!name.begins || at == start || !isNamePart(in[at - 1]))
          && (!name.ends || to == end || !isNamePart(in[to]))) {
        return pastNameParts(to);
      }
    }
    return NONE;
  }

  private int pastNameParts(int at) {
    int to = at;
    while (to < end && isNamePart(in[to])) {
      to++;
    }
    return to;
  }

  /** Masks the value of the name that ends here, if a value follows. */
  private int pastAssigned(int at) {
    int i = at;
    while (i < end && in[i] == '\\') {
      i++;
    }
    boolean closes = i < end && (isQuote(in[i]) || in[i] == '`' || in[i] == ']');
    i = closes ? i + 1 : at;
    boolean assigned = false;
    while (i < end) {
      int blank = pastBlanks(i);
      if (blank > i) {
        i = blank;
      } else if (in[i] == '=') {
        assigned = true;
        i++;
      } else if (in[i] == '%' && i + 2 < end) {
        assigned |= isAt(i, ESCAPED_EQUALS);
        i += ESCAPED_EQUALS.length;
      } else if (kind != Kind.NAME && ":<>!~".indexOf(in[i]) >= 0 && !isAt(i, SCHEME_END)) {
        assigned = true;
        i++;
      } else {
        break;
      }
    }
    return assigned ? pastValue(i) : at;
  }

  private int pastValue(int at) {
    if (at >= end || masksQuoted && isQuote(in[at])) {
      return at;
    }
    int quote = at;
    while (quote < end && in[quote] == '\\') {
      quote++;
    }
    if (!masksQuoted && quote < end && isQuote(in[quote])) {
      return maskUnlessParameter(quote + 1, closing(quote + 1, in[quote], quote - at));
    }
    if (kind == Kind.CONNECTION && in[at] == '{') {
      return mask(at + 1, closing(at + 1, (byte) '}', 0));
    }
    if (kind == Kind.STATEMENT) {
      if (in[at] == '{' || in[at] == '[') {
        return mask(at, end);
      }
      if (in[at] == '?' && (at + 1 == end || endsValue(in[at + 1]))) {
        return at + 1;
      }
    }
    int to = at;
    while (to < end && !isEndOfBareValue(to)) {
      to++;
    }
    return mask(at, to);
  }

  private boolean isEndOfBareValue(int at) {
    byte b = in[at];
    return switch (kind) {
      case NAME -> isBlank(b) || isKey(at);
      case CONNECTION -> isKey(at);
      case STATEMENT ->
          isBlank(b) || (masksQuoted ? isQuote(b) : b == '"' && in[at - 1] != '\\') || isKey(at);
    };
  }

  /** Returns whether the next key begins here. */
  private boolean isKey(int at) {
    byte b = in[at];
    if (b != '&' && b != ';' && b != ',' && b != '?' && !(kind == Kind.CONNECTION && isBlank(b))) {
      return false;
    }
    int to = pastNameParts(at + 1);
    // Two equals signs are the padding of base64, which ends a value.
    return to > at + 1 && to < end && in[to] == '=' && (to + 1 == end || in[to + 1] != '=');
  }

  /**
   * Returns the end of a value in quotes: the quote is not escaped, and the value ends after it.
   */
  private int closing(int at, byte quote, int backslashes) {
    int escapes = 0;
    for (int i = at; i < end; i++) {
      if (in[i] == '\\') {
        escapes++;
        continue;
      }
      if (in[i] == quote && escapes <= backslashes && (i + 1 == end || endsValue(in[i + 1]))) {
        return i - escapes;
      }
      escapes = 0;
    }
    return end;
  }

  private static boolean endsValue(byte b) {
    return isBlank(b) || ";&,)}]\\".indexOf(b) >= 0;
  }

  /** Masks the text in quotes that open here. */
  private int pastQuoted(int at) {
    byte quote = in[at];
    int to = at + 1;
    while (to < end && !commented) {
      if (in[to] == '\\' && to + 1 < end && isQuote(in[to + 1])) {
        // Whether this ends the quotes depends on the dialect.
        return mask(at + 1, end);
      }
      if (in[to] == quote) {
        if (to + 1 == end || in[to + 1] != quote) {
          break;
        }
        to++;
      }
      to++;
    }
    return Math.min(maskUnlessParameter(at + 1, commented ? end : to) + 1, end);
  }

  private int maskUnlessParameter(int at, int to) {
    boolean parameter = kind == Kind.STATEMENT && to == at + 1 && in[at] == '?';
    return parameter ? to : mask(at, to);
  }

  private static boolean isQuote(byte b) {
    return b == '\'' || b == '"';
  }

  private boolean isDollarQuote(int at) {
    return in[at] == '$' && at + 1 < end && in[at + 1] == '$';
  }

  /** Also a backslash with a letter in statements, as OzHera's agent writes white space. */
  private int pastBlanks(int at) {
    int i = at;
    while (i < end) {
      if (isBlank(in[i])) {
        i++;
      } else if (kind == Kind.STATEMENT && isEscapedBlank(in, i, end)) {
        i += 2;
      } else {
        break;
      }
    }
    return i;
  }

  static boolean isBlank(byte b) {
    return b >= 0 && b <= ' ';
  }

  static boolean isEscapedBlank(byte[] text, int at, int end) {
    return text[at] == '\\'
        && at + 1 < end
        && (text[at + 1] == 'n' || text[at + 1] == 'r' || text[at + 1] == 't');
  }

  private static boolean isNamePart(byte b) {
    return b >= 'a' && b <= 'z'
        || b >= 'A' && b <= 'Z'
        || b >= '0' && b <= '9'
        || b == '_'
        || b == '-'
        || b == '.';
  }

  private boolean isWord(int at, byte[] lowerCase) {
    int to = at + lowerCase.length;
    return isAt(at, lowerCase)
        && (at == start
            || !isNamePart(in[at - 1])
            || at - 2 >= start && isEscapedBlank(in, at - 2, at))
        && (to == end || !isNamePart(in[to]));
  }

  private boolean isAt(int at, byte[] lowerCase) {
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

  private int mask(int at, int to) {
    if (at < to) {
      copy(at);
      write(MASK, 0, MASK.length);
      from = to;
    }
    return to;
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
