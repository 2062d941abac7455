package org.traceetl.server.series;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.Arrays;
import java.util.function.Supplier;
import org.traceetl.proto.LearntNames;
import org.traceetl.proto.NameJoiner;
import org.traceetl.proto.NameRules;
import org.traceetl.proto.NameTemplate;

/**
 * Replaces the span names of one queue by their names in series. A name that matches a configured
 * pattern gets its template. In other names, identifiers are removed and learnt names are joined. A
 * replaced name needs no symbol. A batch uses one version of the learnt names.
 *
 * <p>Without patterns it allocates and stores nothing. Results of patterns are kept for the batch.
 * For short names they are also kept in a table of fixed size, where new names replace older ones.
 *
 * <p>In each batch, patterns are tried until the names and their results have {@value
 * #MAX_MATCHED_BYTES} bytes; each name counts as at least {@value #MIN_MATCHED_BYTES}. Further
 * names do not match. One owner thread.
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

  private NamePatterns patterns;
  private final boolean enabled;
  private final int maxBytes;
  private final Supplier<LearntNames> learnt;
  private final NameTemplate template = new NameTemplate();
  private final NameJoiner joiner = new NameJoiner();

  private String application;

  /** Learnt names of the batch's application; null for none. */
  private NameRules rules;

  private int matchedBytes;
  private int unmatched;

  /** Results of patterns, by text of the batch; null if not tried. */
  private byte[][] answerOf = new byte[256][];

  private int entriesBefore;

  // Cached results, by slot: patterns, application, name, result. Empty without patterns.
  private NamePatterns[] patternsOf = {};
  private String[] applications = {};
  private byte[][] names = {};
  private byte[][] answers = {};

  private byte[] buffer;
  private int offset;
  private int length;

  /**
   * @param enabled whether identifiers are removed from names, and names are joined
   * @param maxBytes length to which patterns see a name
   * @param learnt returns the learnt names; called once per batch
   */
  public SpanNames(
      NamePatterns patterns, boolean enabled, int maxBytes, Supplier<LearntNames> learnt) {
    this.learnt = learnt;
    this.enabled = enabled;
    this.maxBytes = maxBytes;
    patterns(patterns);
  }

  /** Replaces the patterns from the next batch on. */
  public void patterns(NamePatterns now) {
    patterns = now;
    if (answers.length == 0 && !now.isEmpty()) {
      patternsOf = new NamePatterns[SLOTS];
      applications = new String[SLOTS];
      names = new byte[SLOTS][];
      answers = new byte[SLOTS][];
    }
  }

  /** Returns whether there are patterns, which need the application's name. */
  public boolean hasPatterns() {
    return !patterns.isEmpty();
  }

  /**
   * Begins a batch.
   *
   * @param application its own name; may be null if there are no patterns, then no names are joined
   * @param entries number of its texts, including those from a mapping
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
   * Finds the name in series, then returned by {@link #buffer}, {@link #offset} and {@link #length}
   * until the next call.
   *
   * @param entry text of the name in the batch
   * @return whether it differs from the original
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
    if (patternsOf[slot] == patterns
        && application.equals(applications[slot])
        && Arrays.equals(name, 0, name.length, bytes, from, from + size)) {
      return answers[slot];
    }
    int unmatchedBefore = unmatched;
    byte[] answer = match(bytes, from, size);
    if (unmatched == unmatchedBefore) {
      patternsOf[slot] = patterns;
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

  /** Returns the number of the batch's names on which patterns were not tried. */
  public int unmatched() {
    return unmatched;
  }

  /** Returns the array with the name that was resolved last. */
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
