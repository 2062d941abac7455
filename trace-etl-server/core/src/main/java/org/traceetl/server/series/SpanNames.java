package org.traceetl.server.series;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.Arrays;
import java.util.function.Supplier;
import org.traceetl.proto.LearntNames;
import org.traceetl.proto.NameJoiner;
import org.traceetl.proto.NameRules;
import org.traceetl.proto.NameTemplate;

/**
 * What the spans of one queue are called in series: a name that matches a configured pattern has
 * its template, any other one has its identifiers taken out and is joined with others by what is
 * learnt. Asked before a symbol is sought: a name that is replaced never takes one. A batch sees
 * one version of what is learnt.
 *
 * <p>Without patterns nothing is allocated and nothing kept. What patterns said is kept for the
 * batch, and to short names in a table of fixed size, where a new name takes an older one's place.
 *
 * <p>Patterns are tried on so many names of a batch as have {@value #MAX_MATCHED_BYTES} bytes with
 * what they became, each of them counted as {@value #MIN_MATCHED_BYTES} at least: others are as if
 * none matched. One owner thread.
 */
public final class SpanNames {
  private static final int SLOT_BITS = 10;
  private static final int SLOTS = 1 << SLOT_BITS;
  private static final int SLOT_SHIFT = Integer.SIZE - SLOT_BITS;
  private static final int MIX = 0x9E37_79B9;
  private static final int MAX_KEPT_BYTES = 256;
  private static final int MAX_MATCHED_BYTES = 1 << 18;
  private static final int MIN_MATCHED_BYTES = 64;
  private static final byte[] NO_MATCH = new byte[0];

  private final NamePatterns patterns;
  private final boolean enabled;
  private final int maxBytes;
  private final Supplier<LearntNames> learnt;
  private final NameTemplate template = new NameTemplate();
  private final NameJoiner joiner = new NameJoiner();

  private String application;

  /** What is learnt of the batch's application; null for nothing. */
  private NameRules rules;

  private int matchedBytes;
  private int unmatched;

  /** What patterns said, by text of the batch; null: they were not asked. */
  private byte[][] answerOf = new byte[256][];

  private int entriesBefore;

  // What patterns said: by slot, about which name of which application
  private final String[] applications;
  private final byte[][] names;
  private final byte[][] answers;

  private byte[] buffer;
  private int offset;
  private int length;

  /**
   * @param enabled whether identifiers are taken out of names, and they are joined
   * @param maxBytes patterns see so much of a name
   * @param learnt gives what is learnt now; asked once a batch
   */
  public SpanNames(
      NamePatterns patterns, boolean enabled, int maxBytes, Supplier<LearntNames> learnt) {
    this.learnt = learnt;
    this.patterns = patterns;
    this.enabled = enabled;
    this.maxBytes = maxBytes;
    int slots = patterns.isEmpty() ? 0 : SLOTS;
    applications = new String[slots];
    names = new byte[slots][];
    answers = new byte[slots][];
  }

  /** Whether there are patterns: they ask for the application. */
  public boolean hasPatterns() {
    return !patterns.isEmpty();
  }

  /**
   * Begins a batch.
   *
   * @param application its own name; where there are no patterns it may be null: then no names are
   *     joined
   * @param entries texts it has, also those that a mapping made
   */
  public void nextBatch(String application, int entries) {
    unmatched = 0;
    rules = enabled && application != null ? learnt.get().applications().get(application) : null;
    if (patterns.isEmpty()) {
      return;
    }
    this.application = application;
    matchedBytes = 0;
    if (answerOf.length < entries) {
      answerOf = new byte[Math.max(entries, answerOf.length * 2)][];
    } else {
      Arrays.fill(answerOf, 0, Math.max(entries, entriesBefore), null);
    }
    entriesBefore = entries;
  }

  /**
   * Finds what a name is called: then {@link #buffer}, {@link #offset} and {@link #length} tell,
   * until the next one is resolved.
   *
   * @param entry text of the name in the batch
   * @return whether it is called otherwise
   */
  public boolean resolve(int entry, byte[] bytes, int from, int size) {
    byte[] answer = patterns.isEmpty() ? NO_MATCH : answer(entry, bytes, from, size);
    if (answer != NO_MATCH) {
      buffer = answer;
      offset = 0;
      length = answer.length;
      return true;
    }
    int written = enabled ? template.write(bytes, from, size) : NameTemplate.UNCHANGED;
    boolean replaced = written != NameTemplate.UNCHANGED;
    buffer = replaced ? template.buffer() : bytes;
    offset = replaced ? 0 : from;
    length = replaced ? written : size;
    int joined = rules == null ? NameJoiner.UNCHANGED : joiner.write(rules, buffer, offset, length);
    if (joined != NameJoiner.UNCHANGED) {
      buffer = joiner.buffer();
      offset = 0;
      length = joined;
      replaced = true;
    }
    return replaced;
  }

  private byte[] answer(int entry, byte[] bytes, int from, int size) {
    if (answerOf[entry] == null) {
      answerOf[entry] = ask(bytes, from, Utf8.cut(bytes, from, size, maxBytes));
    }
    return answerOf[entry];
  }

  private byte[] ask(byte[] bytes, int from, int size) {
    if (size > MAX_KEPT_BYTES) {
      return match(bytes, from, size);
    }
    int slot = (31 * hash(bytes, from, size) + application.hashCode()) * MIX >>> SLOT_SHIFT;
    byte[] name = names[slot];
    if (application.equals(applications[slot])
        && Arrays.equals(name, 0, name.length, bytes, from, from + size)) {
      return answers[slot];
    }
    int unmatchedBefore = unmatched;
    byte[] answer = match(bytes, from, size);
    if (unmatched == unmatchedBefore) {
      answers[slot] = answer;
      names[slot] = Arrays.copyOfRange(bytes, from, from + size);
      applications[slot] = application;
    }
    return answer;
  }

  private static int hash(byte[] bytes, int from, int size) {
    int hash = 0;
    for (int i = from; i < from + size; i++) {
      hash = 31 * hash + bytes[i];
    }
    return hash;
  }

  private byte[] match(byte[] bytes, int from, int size) {
    if (matchedBytes >= MAX_MATCHED_BYTES) {
      unmatched++;
      return NO_MATCH;
    }
    matchedBytes += Math.max(size, MIN_MATCHED_BYTES);
    String text = patterns.template(application, new String(bytes, from, size, UTF_8));
    if (text == null) {
      return NO_MATCH;
    }
    byte[] answer = text.getBytes(UTF_8);
    answer = Arrays.copyOf(answer, Utf8.cut(answer, 0, answer.length, maxBytes));
    matchedBytes += answer.length;
    return answer;
  }

  /** Names of the batch that patterns were not tried on, for there were too many. */
  public int unmatched() {
    return unmatched;
  }

  /** Where the name is that was resolved last. */
  public byte[] buffer() {
    return buffer;
  }

  public int offset() {
    return offset;
  }

  public int length() {
    return length;
  }
}
