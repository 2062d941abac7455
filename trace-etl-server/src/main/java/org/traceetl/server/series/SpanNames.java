package org.traceetl.server.series;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.Arrays;
import org.traceetl.proto.NameTemplate;

/**
 * What the spans of one queue are called in series: a name that matches a configured pattern has
 * its template, any other one has its identifiers taken out. Asked once for each name in a batch,
 * before a symbol is sought: a name that is replaced never takes one.
 *
 * <p>Without patterns nothing is allocated and nothing kept. What patterns said to short names is
 * kept in a table of fixed size, where a new name takes an older one's place. One owner thread.
 */
public final class SpanNames {
  private static final int SLOTS = 1 << 10;
  private static final int MAX_KEPT_BYTES = 256;
  private static final byte[] NO_MATCH = new byte[0];

  private final NamePatterns patterns;
  private final boolean enabled;
  private final int maxBytes;
  private final NameTemplate template = new NameTemplate();

  // What patterns said: by slot, about which name of which application
  private final String[] applications;
  private final byte[][] names;
  private final byte[][] answers;

  private byte[] buffer;
  private int offset;
  private int length;

  /**
   * @param enabled whether identifiers are taken out of names
   * @param maxBytes patterns see so much of a name
   */
  public SpanNames(NamePatterns patterns, boolean enabled, int maxBytes) {
    this.patterns = patterns;
    this.enabled = enabled;
    this.maxBytes = maxBytes;
    int slots = patterns.isEmpty() ? 0 : SLOTS;
    applications = new String[slots];
    names = new byte[slots][];
    answers = new byte[slots][];
  }

  /**
   * Finds what a name is called: then {@link #buffer}, {@link #offset} and {@link #length} tell,
   * until the next one is resolved.
   *
   * @param application name of the application; the same object each time, or the pattern's answer
   *     is sought again
   * @return whether it is called otherwise
   */
  public boolean resolve(String application, byte[] bytes, int from, int size) {
    byte[] answer = patterns.isEmpty() ? NO_MATCH : ask(application, bytes, from, size);
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
    return replaced;
  }

  @SuppressWarnings("ReferenceEquality") // applications are told apart as objects: see resolve
  private byte[] ask(String application, byte[] bytes, int from, int size) {
    int kept = Utf8.cut(bytes, from, size, maxBytes);
    if (kept > MAX_KEPT_BYTES) {
      return match(application, bytes, from, kept);
    }
    int slot = hash(bytes, from, kept) & SLOTS - 1;
    byte[] name = names[slot];
    if (applications[slot] != application
        || !Arrays.equals(name, 0, name.length, bytes, from, from + kept)) {
      answers[slot] = match(application, bytes, from, kept);
      names[slot] = Arrays.copyOfRange(bytes, from, from + kept);
      applications[slot] = application;
    }
    return answers[slot];
  }

  private static int hash(byte[] bytes, int from, int size) {
    int hash = 0;
    for (int i = from; i < from + size; i++) {
      hash = 31 * hash + bytes[i];
    }
    return hash ^ hash >>> 16;
  }

  private byte[] match(String application, byte[] bytes, int from, int size) {
    String text = patterns.template(application, new String(bytes, from, size, UTF_8));
    return text == null ? NO_MATCH : text.getBytes(UTF_8);
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
