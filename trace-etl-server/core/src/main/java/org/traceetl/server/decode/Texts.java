package org.traceetl.server.decode;

import java.util.Arrays;
import org.traceetl.proto.SpanBatchReader;

/**
 * Strings of what was decoded last, by number: those of the message, where they stand in it, and
 * those made of them. Memory grows to the largest message seen and is used again. One owner thread.
 */
public final class Texts {
  private byte[] message = new byte[0];

  /** Bytes of the texts that the message does not have. */
  private byte[] made = new byte[1_024];

  private int madeBytes;

  /** Where a text begins: in the message, or with all bits turned in {@link #made}. */
  private int[] offsets = new int[256];

  private int[] lengths = new int[256];
  private int size;

  /** Begins anew with the strings of a dictionary, under its numbers. */
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

  /** Begins anew, with no texts. */
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
   * Adds a text that the message does not have. May replace the array that {@link #buffer} answers
   * for such texts.
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

  /** Texts there are: numbers are below it. */
  public int size() {
    return size;
  }

  /** The array that a text stands in. Not to be written to. */
  public byte[] buffer(int text) {
    return offsets[text] >= 0 ? message : made;
  }

  /** Where in its array a text begins. */
  public int offset(int text) {
    int offset = offsets[text];
    return offset >= 0 ? offset : ~offset;
  }

  /** Bytes of a text. */
  public int length(int text) {
    return lengths[text];
  }
}
