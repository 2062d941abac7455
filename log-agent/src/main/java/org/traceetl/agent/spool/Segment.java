package org.traceetl.agent.spool;

import java.io.IOException;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * A file of frames, with one beside it that tells which of its batches are settled: both go
 * together, whichever segments go before them. The files are their appending thread's; the list of
 * batches is guarded by the spool's lock.
 */
final class Segment {
  static final String SUFFIX = ".seg";
  static final String SETTLED_SUFFIX = ".settled";

  /** Of a file that is not a segment yet. */
  static final String UNFINISHED_SUFFIX = ".tmp";

  /** What a batch takes beside its body: about what a frame says of it. */
  static final int BATCH_BYTES = 64;

  final long number;
  final FrameFile frames;
  private final Path settledPath;
  private long lowest;
  // Null until something of it is settled.
  private FrameFile settledFile;

  // By ordinal; null when settled or damaged.
  private SpooledBatch[] batches = new SpooledBatch[64];
  private int count;
  private int unsettled;
  private long unsettledBytes;
  private int oldest;
  private boolean isState;
  // Ordinal and spans, in turn.
  private int[] newlySettled = new int[64];
  private int newlySettledLength;

  Segment(long number, FrameFile frames) {
    this.number = number;
    this.frames = frames;
    this.lowest = number;
    this.settledPath = sibling(frames.path(), SETTLED_SUFFIX);
  }

  private static Path sibling(Path path, String suffix) {
    String name = path.getFileName().toString();
    return path.resolveSibling(name.substring(0, name.length() - SUFFIX.length()) + suffix);
  }

  /** Others were merged into it, the first of them with this number. */
  void replaces(long first) {
    lowest = first;
  }

  /** From this number to its own it replaces all: a segment before it has a lower one. */
  long lowest() {
    return lowest;
  }

  /** It begins with all places and remembered requests: earlier segments may go. */
  void hasState() {
    isState = true;
  }

  boolean isState() {
    return isState;
  }

  /** Adds a batch in its order. */
  void add(SpooledBatch batch) {
    batch.segment = this;
    batch.ordinal = count;
    append(batch);
    unsettled++;
    unsettledBytes += batch.length() + BATCH_BYTES;
  }

  /** Leaves out a batch that is settled or damaged. */
  void skip() {
    append(null);
  }

  /** Leaves out a batch that was settled while it was copied here. */
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

  /** Bytes that its unsettled batches would take in a segment of their own, about. */
  long unsettledBytes() {
    return unsettledBytes;
  }

  /** Bytes that a merge frees, about. */
  long settledBytes() {
    return Math.max(0, bytes() - unsettledBytes);
  }

  /** The oldest batch that is not settled, or null. */
  SpooledBatch oldest() {
    while (oldest < count && batches[oldest] == null) {
      oldest++;
    }
    return oldest < count ? batches[oldest] : null;
  }

  /** The batches that are not settled. */
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

  /** What was settled and is not yet written; it is forgotten here. Null when there is nothing. */
  int[] takeNewlySettled() {
    if (newlySettledLength == 0) {
      return null;
    }
    int[] taken = Arrays.copyOf(newlySettled, newlySettledLength);
    newlySettledLength = 0;
    return taken;
  }

  /** It could not be written: it is taken again later. */
  void putBackNewlySettled(int[] ordinalsAndSpans) {
    int[] all = Arrays.copyOf(ordinalsAndSpans, ordinalsAndSpans.length + newlySettledLength);
    System.arraycopy(newlySettled, 0, all, ordinalsAndSpans.length, newlySettledLength);
    newlySettled = all;
    newlySettledLength = all.length;
  }

  /** Writes what was settled. */
  void writeSettled(int[] ordinalsAndSpans, FrameBuffer content) throws IOException {
    content.clear();
    content.putByte(FrameContent.SETTLED).putInt(ordinalsAndSpans.length / 2);
    for (int number : ordinalsAndSpans) {
      content.putInt(number);
    }
    if (settledFile == null) {
      settledFile = FrameFile.create(settledPath);
    }
    settledFile.append(content, List.of(), false);
  }

  /**
   * Reads what is known to be settled: spans by ordinal. What is torn or damaged in it is only sent
   * once more.
   */
  Map<Integer, Integer> readSettled() throws IOException {
    Map<Integer, Integer> settled = new HashMap<>();
    if (!Files.exists(settledPath)) {
      return settled;
    }
    settledFile = FrameFile.open(settledPath);
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
      // Shorter than it says: what it told until then is true.
    }
  }

  /** Bytes on disk. */
  long bytes() {
    return frames.end() + (settledFile == null ? 0 : settledFile.end());
  }

  void close() throws IOException {
    frames.close();
    if (settledFile != null) {
      settledFile.close();
    }
  }

  /** Deletes the files; those that were settled last, for they alone would be read as nothing. */
  void delete() throws IOException {
    close();
    Files.deleteIfExists(frames.path());
    Files.deleteIfExists(settledPath);
  }
}
