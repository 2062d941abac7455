package org.traceetl.agent.spool;

import java.io.IOException;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * A file of frames, and a second file that lists its settled batches. Both are deleted together.
 * The files are confined to the appending thread; the spool's lock guards the list of batches.
 */
final class Segment {
  /** Approximate bytes of a batch in a frame without its body. */
  static final int BATCH_BYTES = 64;

  final long number;
  final FrameFile frames;
  private final SpoolFiles files;
  private long lowest;
  // Null until a batch is recorded as settled.
  private FrameFile settledFile;

  // By ordinal; null if settled or damaged.
  private SpooledBatch[] batches = new SpooledBatch[64];
  private int count;
  private int unsettled;
  private long unsettledBytes;
  private int oldest;
  private boolean isState;
  // Pairs of ordinal and spans.
  private int[] newlySettled = new int[64];
  private int newlySettledLength;

  Segment(long number, FrameFile frames, SpoolFiles files) {
    this.number = number;
    this.frames = frames;
    this.files = files;
    this.lowest = number;
  }

  /** Records that this segment replaces others, of which this is the lowest number. */
  void replaces(long first) {
    lowest = first;
  }

  /** Returns the lowest number it replaces; it replaces all from there to its own. */
  long lowest() {
    return lowest;
  }

  /** Records that it begins with all positions and requests, so earlier segments can be deleted. */
  void hasState() {
    isState = true;
  }

  boolean isState() {
    return isState;
  }

  /** Adds the next batch. */
  void add(SpooledBatch batch) {
    batch.segment = this;
    batch.ordinal = count;
    append(batch);
    unsettled++;
    unsettledBytes += batch.length() + BATCH_BYTES;
  }

  /** Skips the ordinal of a batch that is settled or damaged. */
  void skip() {
    append(null);
  }

  /** Skips a batch that was settled while it was copied to this segment. */
  void addSettled(int spans) {
    noteSettled(count, spans);
    skip();
  }

  private void append(SpooledBatch batch) {
    if (count == batches.length) {
      batches = Arrays.copyOf(batches, 2 * count);
    }
    batches[count++] = batch;
  }

  int count() {
    return count;
  }

  int unsettled() {
    return unsettled;
  }

  /** Returns the approximate bytes of the unsettled batches. */
  long unsettledBytes() {
    return unsettledBytes;
  }

  /** Returns the approximate bytes that a merge frees. */
  long settledBytes() {
    return Math.max(0, bytes() - unsettledBytes);
  }

  /** Returns the oldest unsettled batch, or null. */
  SpooledBatch oldest() {
    while (oldest < count && batches[oldest] == null) {
      oldest++;
    }
    return oldest < count ? batches[oldest] : null;
  }

  /** Returns the unsettled batches, oldest first. */
  List<SpooledBatch> allUnsettled() {
    List<SpooledBatch> all = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      if (batches[i] != null) {
        all.add(batches[i]);
      }
    }
    return all;
  }

  void settle(SpooledBatch batch) {
    batches[batch.ordinal] = null;
    unsettled--;
    unsettledBytes -= batch.length() + BATCH_BYTES;
    noteSettled(batch.ordinal, batch.spans());
  }

  private void noteSettled(int ordinal, int spans) {
    if (newlySettledLength == newlySettled.length) {
      newlySettled = Arrays.copyOf(newlySettled, 2 * newlySettledLength);
    }
    newlySettled[newlySettledLength++] = ordinal;
    newlySettled[newlySettledLength++] = spans;
  }

  /** Removes and returns the settled batches that are not written yet; null if there are none. */
  int[] takeNewlySettled() {
    if (newlySettledLength == 0) {
      return null;
    }
    int[] taken = Arrays.copyOf(newlySettled, newlySettledLength);
    newlySettledLength = 0;
    return taken;
  }

  /** Returns pairs that could not be written; they are taken again. */
  void putBackNewlySettled(int[] ordinalsAndSpans) {
    int[] all = Arrays.copyOf(ordinalsAndSpans, ordinalsAndSpans.length + newlySettledLength);
    System.arraycopy(newlySettled, 0, all, ordinalsAndSpans.length, newlySettledLength);
    newlySettled = all;
    newlySettledLength = all.length;
  }

  /** Appends settled batches to their file, without a force. */
  void writeSettled(int[] ordinalsAndSpans, FrameBuffer content) throws IOException {
    content.clear();
    content.putByte(FrameContent.SETTLED).putInt(ordinalsAndSpans.length / 2);
    for (int number : ordinalsAndSpans) {
      content.putInt(number);
    }
    if (settledFile == null) {
      settledFile = files.create(files.settled(number));
    }
    settledFile.append(content, List.of(), false);
  }

  /**
   * Reads the settled batches: spans by ordinal. If an entry is torn or damaged, its batches are
   * sent again.
   */
  Map<Integer, Integer> readSettled() throws IOException {
    Map<Integer, Integer> settled = new HashMap<>();
    if (!files.exists(files.settled(number))) {
      return settled;
    }
    settledFile = files.open(files.settled(number));
    FrameFile.Found found = settledFile.next();
    while (found == FrameFile.Found.FRAME || found == FrameFile.Found.DAMAGED_CONTENT) {
      if (found == FrameFile.Found.FRAME) {
        readSettled(settledFile.content(), settled);
      }
      found = settledFile.next();
    }
    if (found != FrameFile.Found.END) {
      settledFile.cutHere();
    }
    settledFile.endReading();
    return settled;
  }

  private static void readSettled(ByteBuffer content, Map<Integer, Integer> into) {
    try {
      if (content.get() == FrameContent.SETTLED) {
        for (int left = content.getInt(); left > 0; left--) {
          into.put(content.getInt(), content.getInt());
        }
      }
    } catch (BufferUnderflowException e) {
      // The list is cut short; the entries read so far are valid.
    }
  }

  /** Returns the bytes on disk. */
  long bytes() {
    return frames.end() + (settledFile == null ? 0 : settledFile.end());
  }

  void close() throws IOException {
    frames.close();
    if (settledFile != null) {
      settledFile.close();
    }
  }

  /** Deletes the files. The settled file goes last, because without its segment it is ignored. */
  void delete() throws IOException {
    close();
    files.delete(frames.path());
    files.delete(files.settled(number));
  }
}
