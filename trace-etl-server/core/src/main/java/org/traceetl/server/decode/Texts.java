package org.traceetl.server.decode;

import java.util.Arrays;
import org.traceetl.proto.SpanBatchReader;

/**
 * The strings of the last message by number: those of the message, at their place in it, and
 * strings created from them. The reused memory grows to the largest message. One owner thread.
 */
public final class Texts {
  private byte[] message = new byte[0];

  /** Bytes of the created texts. */
  private byte[] made = new byte[1_024];

  private int madeBytes;

  /** Start of each text: in the message, or, with all bits inverted, in {@link #made}. */
  private int[] offsets = new int[256];

  private int[] lengths = new int[256];
  private int size;

  /** Replaces all texts by a dictionary, with its numbers. */
  public void begin(SpanBatchReader batch) {
    begin(batch.buffer());
    int entries = batch.dictionarySize();
    ensure(entries);
    for (int entry = 0; entry < entries; entry++) {
      offsets[entry] = batch.dictionaryOffset(entry);
      lengths[entry] = batch.dictionaryLength(entry);
    }
    size = entries;
  }

  /** Removes all texts, and sets the message. */
  public void begin(byte[] message) {
    this.message = message;
    madeBytes = 0;
    size = 0;
  }

  /**
   * Adds a part of the message.
   *
   * @return its number
   */
  public int add(int offset, int length) {
    ensure(size + 1);
    offsets[size] = offset;
    lengths[size] = length;
    return size++;
  }

  /**
   * Adds a part of another text, without a copy.
   *
   * @return its number
   */
  public int part(int text, int from, int length) {
    int offset = offsets[text];
    return add(offset >= 0 ? offset + from : ~(~offset + from), length);
  }

  /**
   * Adds a text that is not in the message. May replace the array that {@link #buffer} returns for
   * such texts.
   *
   * @return its number
   */
  public int make(byte[] bytes, int offset, int length) {
    if (madeBytes + length > made.length) {
      made = Arrays.copyOf(made, Math.max(madeBytes + length, made.length * 2));
    }
    System.arraycopy(bytes, offset, made, madeBytes, length);
    int number = add(~madeBytes, length);
    madeBytes += length;
    return number;
  }

  private void ensure(int texts) {
    if (texts > offsets.length) {
      int capacity = Math.max(texts, offsets.length * 2);
      offsets = Arrays.copyOf(offsets, capacity);
      lengths = Arrays.copyOf(lengths, capacity);
    }
  }

  /** Returns the number of texts. */
  public int size() {
    return size;
  }

  /** Returns the array that contains a text. Read-only. */
  public byte[] buffer(int text) {
    return offsets[text] >= 0 ? message : made;
  }

  /** Returns the start of a text in its array. */
  public int offset(int text) {
    int offset = offsets[text];
    return offset >= 0 ? offset : ~offset;
  }

  /** Returns the length of a text in bytes. */
  public int length(int text) {
    return lengths[text];
  }
}
