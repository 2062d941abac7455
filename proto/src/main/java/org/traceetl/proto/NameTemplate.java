package org.traceetl.proto;

import static java.nio.charset.StandardCharsets.US_ASCII;

/**
 * Removes identifiers from span names: {@code GET /users/42} becomes {@code GET /users/{id}}. The
 * result depends only on the name's bytes, so it is the same in every process. A second pass
 * changes nothing.
 *
 * <p>A token is a run of letters and digits; bytes outside ASCII count as letters. These are
 * replaced:
 *
 * <pre>
 *   {email}  local@domain.tld
 *   {date}   2026-01-31, with or without a time: T10:00:00.5Z, T10:00+02:00
 *   {id}     a UUID; a number; four numbers with dots, as of IPv4; numbers with dots, one of which
 *            has more than 3 digits; 0x and 4 or more hex digits; a token of 8 or more hex digits,
 *            one of them 0 to 9; a token of 16 or more characters that changes between letters and
 *            digits 5 times; within other tokens 5 or more digits in a row
 * </pre>
 *
 * <p>The following remain: numbers with dots (1.1, v1.2, 3.11), one digit after the token {@code
 * HTTP/}, one that {@code -} or {@code _} joins to a letter (utf-8, us-east-1), letters with up to
 * 4 digits (v2, sha256, log4j).
 *
 * <p>Takes time in proportion to the name; most unchanged names are scanned once. Allocates only to
 * grow its buffer. One owner thread.
 */
public final class NameTemplate {
  /** The name does not change. */
  public static final int UNCHANGED = -1;

  private static final byte[] ID = "{id}".getBytes(US_ASCII);
  private static final byte[] EMAIL = "{email}".getBytes(US_ASCII);
  private static final byte[] DATE = "{date}".getBytes(US_ASCII);
  private static final byte[] HTTP = "http/".getBytes(US_ASCII);

  private static final int MIN_HASH = 8;
  private static final int MIN_HEX = 4;
  private static final int MIN_TOKEN = 16;
  private static final int MIN_TOKEN_CHANGES = 5;
  private static final int MIN_DIGITS_IN_TOKEN = 5;
  private static final int MAX_VERSION_DIGITS = 3;
  private static final int IPV4_PARTS = 4;
  private static final int[] UUID_GROUPS = {8, 4, 4, 4, 12};
  private static final int DATE_LENGTH = 10;
  private static final int NOWHERE = -1;

  private byte[] buffer = new byte[256];
  private int size;

  // The current name
  private byte[] name = buffer;
  private int end;
  private boolean changed;

  /** Position of the next {@code @}, or the name's end. */
  private int at;

  /** First possible start of the local part before {@link #at}. */
  private int localStart;

  /** End of the domain after {@link #at}, or {@link #NOWHERE}. */
  private int domainEnd;

  /**
   * Writes a name's template to {@link #buffer}.
   *
   * @return its length, at most 5/2 of the name's plus 4, or {@link #UNCHANGED}
   */
  public int write(byte[] bytes, int offset, int length) {
    if (!mayChange(bytes, offset, length)) {
      return UNCHANGED;
    }
    name = bytes;
    end = offset + length;
    size = 0;
    changed = false;
    at = offset - 1;
    if (buffer.length < length / 2 * 5 + ID.length + 2) {
      buffer = new byte[Math.max(buffer.length * 2, length / 2 * 5 + ID.length + 2)];
    }
    findAt(offset);
    int next = offset;
    while (next < end) {
      next = isTokenByte(name[next]) ? token(next) : copy(next, next + 1);
    }
    name = buffer;
    return changed ? size : UNCHANGED;
  }

  /** Returns the template's buffer, valid until the next {@link #write}. */
  public byte[] buffer() {
    return buffer;
  }

  /** Returns false for most unchanged names, after one scan and without writing. */
  private static boolean mayChange(byte[] bytes, int offset, int length) {
    int token = 0;
    int digits = 0;
    int digitsInARow = 0;
    boolean hex = true;
    for (int i = offset; i < offset + length; i++) {
      byte b = bytes[i];
      if (isLetter(b)) {
        digitsInARow = 0;
        hex &= isHex(b);
      } else if (isDigit(b)) {
        digits++;
        digitsInARow++;
        if (token == 0 || digitsInARow == MIN_DIGITS_IN_TOKEN) {
          return true;
        }
      } else {
        if (b == '@' || token == UUID_GROUPS[0] && hex && b == '-') {
          return true;
        }
        token = 0;
        digits = 0;
        digitsInARow = 0;
        hex = true;
        continue;
      }
      token++;
      if (token >= MIN_HASH && digits > 0 && (hex || token >= MIN_TOKEN)) {
        return true;
      }
    }
    return false;
  }

  /** Writes the token or identifier that starts here; returns the end of what it read. */
  private int token(int start) {
    int to = email(start);
    if (to != NOWHERE) {
      return replace(EMAIL, to);
    }
    to = uuid(start);
    if (to != NOWHERE) {
      return replace(ID, to);
    }
    to = date(start);
    if (to != NOWHERE) {
      return replace(DATE, to);
    }
    int tokenEnd = start;
    int digits = 0;
    while (tokenEnd < end && isTokenByte(name[tokenEnd])) {
      digits += isDigit(name[tokenEnd]) ? 1 : 0;
      tokenEnd++;
    }
    if (digits == 0) {
      return copy(start, tokenEnd);
    }
    if (digits == tokenEnd - start) {
      return numbers(start, tokenEnd);
    }
    return isIdentifier(start, tokenEnd) ? replace(ID, tokenEnd) : mixed(start, tokenEnd);
  }

  /** Writes a token that is not an identifier up to the end of its first long number. */
  private int mixed(int start, int tokenEnd) {
    int run = start;
    for (int i = start; i <= tokenEnd; i++) {
      if (i < tokenEnd && isDigit(name[i])) {
        continue;
      }
      if (i - run >= MIN_DIGITS_IN_TOKEN) {
        if (isIdentifier(start, run)) {
          replace(ID, run);
        } else {
          copy(start, run);
        }
        return replace(ID, i);
      }
      run = i + 1;
    }
    return copy(start, tokenEnd);
  }

  /** Writes numbers joined by dots, the first of which has this end. */
  private int numbers(int start, int firstEnd) {
    int parts = 1;
    int longest = firstEnd - start;
    int to = firstEnd;
    while (to + 1 < end && name[to] == '.' && isDigit(name[to + 1])) {
      int partEnd = digitsEnd(to + 1);
      if (partEnd < end && isTokenByte(name[partEnd])) {
        break;
      }
      longest = Math.max(longest, partEnd - to - 1);
      to = partEnd;
      parts++;
    }
    boolean stays =
        parts > 1
            ? parts != IPV4_PARTS && longest <= MAX_VERSION_DIGITS
            : isVersion(longest) || isJoinedDigit(longest) || longest == 1 && followsHttp();
    return stays ? copy(start, to) : replace(ID, to);
  }

  /** Examines the output and not the name, so that a second pass gives the same result. */
  private boolean isVersion(int digits) {
    return digits <= MAX_VERSION_DIGITS
        && size > 1
        && buffer[size - 1] == '.'
        && isDigit(buffer[size - 2]);
  }

  private boolean isJoinedDigit(int digits) {
    return digits == 1
        && size > 1
        && (buffer[size - 1] == '-' || buffer[size - 1] == '_')
        && isLetter(buffer[size - 2]);
  }

  /** Returns whether the token {@code HTTP} and a slash precede. */
  private boolean followsHttp() {
    if (size < HTTP.length || size > HTTP.length && isTokenByte(buffer[size - HTTP.length - 1])) {
      return false;
    }
    for (int i = 0; i < HTTP.length; i++) {
      int b = buffer[size - HTTP.length + i];
      if (b != HTTP[i] && b != HTTP[i] - 'a' + 'A') {
        return false;
      }
    }
    return true;
  }

  /** Returns whether a token that is not a number is an identifier as a whole. */
  private boolean isIdentifier(int start, int tokenEnd) {
    int length = tokenEnd - start;
    if (length > MIN_HEX + 1
        && name[start] == '0'
        && (name[start + 1] | 0x20) == 'x'
        && hexEnd(start + 2) >= tokenEnd) {
      return true;
    }
    int changes = 0;
    int digits = isDigit(name[start]) ? 1 : 0;
    boolean hex = length >= MIN_HASH && isHex(name[start]);
    for (int i = start + 1; i < tokenEnd; i++) {
      boolean digit = isDigit(name[i]);
      digits += digit ? 1 : 0;
      changes += digit != isDigit(name[i - 1]) ? 1 : 0;
      hex &= isHex(name[i]);
    }
    return hex && digits > 0 || length >= MIN_TOKEN && changes >= MIN_TOKEN_CHANGES;
  }

  /** Returns the end of a UUID that starts here. */
  private int uuid(int start) {
    int group = start;
    for (int digits : UUID_GROUPS) {
      if (group > start) {
        if (group >= end || name[group] != '-') {
          return NOWHERE;
        }
        group++;
      }
      for (int i = group; i < group + digits; i++) {
        if (i >= end || !isHex(name[i])) {
          return NOWHERE;
        }
      }
      group += digits;
    }
    return endsThere(group) ? group : NOWHERE;
  }

  /** Returns the end of a date that starts here, including its time. */
  private int date(int start) {
    int to = start + DATE_LENGTH;
    if (to > end
        || number(start, 4) < 0
        || name[start + 4] != '-'
        || name[start + 7] != '-'
        || !isIn(number(start + 5, 2), 1, 12)
        || !isIn(number(start + 8, 2), 1, 31)) {
      return NOWHERE;
    }
    if (to < end && (name[to] | 0x20) == 't') {
      to = time(to + 1);
    }
    return to != NOWHERE && endsThere(to) ? to : NOWHERE;
  }

  /** Returns the end of a time and its zone: hh:mm, hh:mm:ss, also with a fraction. */
  private int time(int start) {
    int to = start + 5;
    if (to > end || number(start, 2) < 0 || name[start + 2] != ':' || number(start + 3, 2) < 0) {
      return NOWHERE;
    }
    if (to + 2 < end && name[to] == ':' && number(to + 1, 2) >= 0) {
      to += 3;
      if (to + 1 < end && name[to] == '.' && isDigit(name[to + 1])) {
        to = digitsEnd(to + 1);
      }
    }
    if (to < end && (name[to] | 0x20) == 'z') {
      return to + 1;
    }
    if (to + 5 < end
        && (name[to] == '+' || name[to] == '-')
        && number(to + 1, 2) >= 0
        && name[to + 3] == ':'
        && number(to + 4, 2) >= 0) {
      return to + 6;
    }
    return to;
  }

  /** Returns the number of this many digits, or -1. */
  private int number(int start, int digits) {
    int value = 0;
    for (int i = start; i < start + digits; i++) {
      if (i >= end || !isDigit(name[i])) {
        return -1;
      }
      value = value * 10 + name[i] - '0';
    }
    return value;
  }

  private static boolean isIn(int value, int least, int most) {
    return value >= least && value <= most;
  }

  /** Returns the end of an e-mail address that starts here. */
  private int email(int start) {
    if (at < start) {
      findAt(start);
    }
    return at < end && start >= localStart ? domainEnd : NOWHERE;
  }

  /** Finds the first {@code @} from here on. Reads every byte a few times in total. */
  private void findAt(int from) {
    int previous = at;
    at = from;
    while (at < end && name[at] != '@') {
      at++;
    }
    if (at == end) {
      return;
    }
    localStart = at;
    while (localStart > previous + 1 && isLocalByte(name[localStart - 1])) {
      localStart--;
    }
    domainEnd = at + 1;
    int label = at + 1;
    while (domainEnd < end && isDomainByte(name[domainEnd])) {
      domainEnd++;
      if (name[domainEnd - 1] == '.') {
        label = domainEnd;
      }
    }
    boolean letters = domainEnd - label >= 2 && label > at + 2;
    for (int i = label; i < domainEnd; i++) {
      letters &= isLetter(name[i]);
    }
    if (!letters || !endsThere(domainEnd)) {
      domainEnd = NOWHERE;
    }
  }

  /** Rejects an end before a placeholder: in the original name a longer token was there. */
  private boolean endsThere(int to) {
    return to == end || !isTokenByte(name[to]) && name[to] != '{';
  }

  private int copy(int from, int to) {
    System.arraycopy(name, from, buffer, size, to - from);
    size += to - from;
    return to;
  }

  private int replace(byte[] template, int to) {
    System.arraycopy(template, 0, buffer, size, template.length);
    size += template.length;
    changed = true;
    return to;
  }

  private int digitsEnd(int from) {
    int to = from;
    while (to < end && isDigit(name[to])) {
      to++;
    }
    return to;
  }

  private int hexEnd(int from) {
    int to = from;
    while (to < end && isHex(name[to])) {
      to++;
    }
    return to;
  }

  private static boolean isDigit(byte b) {
    return b >= '0' && b <= '9';
  }

  private static boolean isLetter(byte b) {
    return b < 0 || (b | 0x20) >= 'a' && (b | 0x20) <= 'z';
  }

  private static boolean isHex(byte b) {
    return isDigit(b) || (b | 0x20) >= 'a' && (b | 0x20) <= 'f';
  }

  private static boolean isTokenByte(byte b) {
    return isDigit(b) || isLetter(b);
  }

  private static boolean isDomainByte(byte b) {
    return isTokenByte(b) || b == '.' || b == '-';
  }

  /** Includes all token bytes, so that a local part never starts inside a token. */
  private static boolean isLocalByte(byte b) {
    return isDomainByte(b) || b == '_' || b == '+' || b == '%';
  }
}
