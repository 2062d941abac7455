package org.traceetl.proto;

import java.util.Arrays;

/**
 * Ages of the batches of a message when it was sent: the time since the agent accepted each of
 * them, or since its last span ended in a ring, in milliseconds. A message has them as user
 * property {@link #PROPERTY}. The time at which a batch was accepted is the broker's store time
 * less its age, so that a wrong clock of the agent cancels out.
 *
 * <p>The text is the age of the first batch, then the difference of each to the one before,
 * separated by commas: {@code 1520,-20}. Numbers have at most nine digits. Batches after the last
 * number have its age.
 *
 * <p>A semicolon may follow, and the age from which this agent's batches may be missing: {@code
 * 1520,-20;4200}. All that the agent accepted for the queue earlier than 4,200 ms before the
 * message is in the queue at this message or before it, or was dropped. Without a number the age is
 * 0. A {@link Heartbeat} has no batches, so its text begins with the semicolon. Readers ignore
 * everything after a second semicolon.
 *
 * <p>Reusable, and allocates only to grow. For one thread at a time.
 */
public final class BatchAges {
  /** Name of the user property. */
  public static final String PROPERTY = "age";

  /** Maximum age: a week. */
  public static final int MAX_MILLIS = 604_800_000;

  /** {@link #unconfirmedMillis} of a message that does not contain it. */
  public static final int UNKNOWN = -1;

  /** Maximum number of characters that are read. */
  private static final int MAX_CHARACTERS = 3_000;

  private static final int MAX_DIGITS = 9;

  private int[] millis = new int[16];
  private int count;
  private int unconfirmedMillis = UNKNOWN;

  /**
   * As {@link #text(long[], int, long)}, without the age from which batches may be missing.
   *
   * @param count number of batches, at least 1
   */
  public static String text(long[] millis, int count) {
    return text(millis, count, UNKNOWN);
  }

  /**
   * Returns the text of a message's ages. Ages out of range become the nearest one in range.
   *
   * @param millis ages of the batches in the order of the message
   * @param count number of batches; 0 for a heartbeat
   * @param unconfirmedMillis age from which batches of this agent and queue may be missing, at
   *     least 0; {@link #UNKNOWN} to leave it out, except from a heartbeat
   */
  public static String text(long[] millis, int count, long unconfirmedMillis) {
    int last = count;
    while (last > 1 && limited(millis[last - 1]) == limited(millis[last - 2])) {
      last--;
    }
    StringBuilder text = new StringBuilder();
    int before = 0;
    for (int i = 0; i < last; i++) {
      int age = limited(millis[i]);
      if (i > 0) {
        text.append(',');
      }
      text.append(age - before);
      before = age;
    }
    if (unconfirmedMillis != UNKNOWN) {
      text.append(';');
      if (unconfirmedMillis > 0) {
        text.append(limited(unconfirmedMillis));
      }
    }
    return text.toString();
  }

  private static int limited(long age) {
    return Math.clamp(age, 0, MAX_MILLIS);
  }

  /**
   * Reads a message's property.
   *
   * @param text null if the message does not have it: all ages are 0
   * @return false if the ages are malformed: all are 0, and {@link #unconfirmedMillis} is unknown
   */
  public boolean read(String text) {
    count = 0;
    unconfirmedMillis = UNKNOWN;
    if (text == null) {
      return true;
    }
    int end = text.indexOf(';');
    if (end != 0 && !readAges(text, end < 0 ? text.length() : end)) {
      count = 0;
      return false;
    }
    if (end >= 0) {
      unconfirmedMillis = readUnconfirmed(text, end + 1);
    }
    return true;
  }

  /** Reads the number from {@code from} to the end or the next semicolon. */
  private static int readUnconfirmed(String text, int from) {
    int number = 0;
    int at = from;
    while (at < text.length() && isDigit(text.charAt(at)) && at - from < MAX_DIGITS) {
      number = 10 * number + text.charAt(at) - '0';
      at++;
    }
    boolean ended = at == text.length() || text.charAt(at) == ';';
    return ended ? limited(number) : UNKNOWN;
  }

  /** Reads the numbers before {@code end}. */
  private boolean readAges(String text, int end) {
    if (end > MAX_CHARACTERS) {
      return false;
    }
    int age = 0;
    int at = 0;
    while (true) {
      boolean negative = at > 0 && at < end && text.charAt(at) == '-';
      int from = negative ? at + 1 : at;
      at = from;
      int number = 0;
      while (at < end && isDigit(text.charAt(at)) && at - from < MAX_DIGITS) {
        number = 10 * number + text.charAt(at) - '0';
        at++;
      }
      age += negative ? -number : number;
      if (at == from || age < 0 || age > MAX_MILLIS) {
        return false;
      }
      add(age);
      if (at == end) {
        return true;
      }
      if (text.charAt(at) != ',') {
        return false;
      }
      at++;
    }
  }

  private static boolean isDigit(char character) {
    return character >= '0' && character <= '9';
  }

  private void add(int age) {
    if (count == millis.length) {
      millis = Arrays.copyOf(millis, 2 * count);
    }
    millis[count++] = age;
  }

  /**
   * Returns the age of a batch in milliseconds, 0 to {@link #MAX_MILLIS}.
   *
   * @param part number of the batch in its message, from 0
   */
  public int of(int part) {
    return count == 0 ? 0 : millis[Math.min(part, count - 1)];
  }

  /**
   * Returns the age from which batches of the message's agent may be missing in its queue, 0 to
   * {@link #MAX_MILLIS}: all that it accepted before is there, or was dropped. {@link #UNKNOWN} if
   * the message does not contain it, or it is malformed.
   */
  public int unconfirmedMillis() {
    return unconfirmedMillis;
  }
}
