package org.traceetl.agent.spool;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.traceetl.agent.config.SpoolConfig;
import org.traceetl.agent.config.SpoolConfig.Flush;
import org.traceetl.agent.state.AgentIdentity;

/**
 * Writes frames to the active segment, begins segments, and copies unsettled batches to new
 * segments that replace others. Confined to the writing thread.
 */
final class SegmentWriter {
  private static final long SMALLEST_SEGMENT_BYTES = 256 * 1024;
  private static final long LARGEST_SEGMENT_BYTES = 64 * 1024 * 1024;

  /** Approximate segments of a full spool; the unit in which the oldest batches are dropped. */
  static final int SEGMENTS = 16;

  /** Distance between the numbers of new segments; a merged segment takes a number between them. */
  private static final int NUMBER_STEP = 16;

  /** Bytes of bodies that a merge keeps in memory, unless one body is larger. */
  private static final int COPY_BYTES = 1024 * 1024;

  private final SpoolConfig config;
  private final SpoolFiles files;
  private final SegmentList segments;
  private final SpoolState state;
  private final Flusher flusher;
  private final SettledSegments settled;
  // Limits a segment of many small batches, so that dropping the oldest segment drops few.
  private final int mostBatches;
  private final FrameBuffer content = new FrameBuffer();
  // Separate, because a merge runs while a frame waits in the other buffer.
  private final FrameBuffer mergeContent = new FrameBuffer();
  private long nextNumber;
  // Null while no segment could be created.
  private Segment active;
  private long activeStart;
  private long activeLimit;

  SegmentWriter(
      SpoolConfig config,
      SpoolFiles files,
      SegmentList segments,
      SpoolState state,
      Flusher flusher,
      SettledSegments settled) {
    this.config = config;
    this.files = files;
    this.segments = segments;
    this.state = state;
    this.flusher = flusher;
    this.settled = settled;
    mostBatches = Math.ceilDiv(config.maxBatches(), SEGMENTS);
    List<Segment> earlier = segments.all();
    nextNumber = earlier.isEmpty() ? 1 : earlier.getLast().number + NUMBER_STEP;
  }

  /** Encodes the frame without its bodies, for the next {@link #write}; returns its bytes. */
  long encode(Frame frame) {
    FrameContent.write(
        content,
        FrameContent.kind(frame.batches()),
        frame.agent(),
        frame.batches(),
        frame.requests(),
        frame.places());
    return FrameFile.frameBytes(content, frame.batches());
  }

  /** Returns the bytes of the encoded frame without its bodies. */
  long encodedBytes() {
    return content.length();
  }

  /** Returns whether a frame of that size begins a segment, which needs room for its state. */
  boolean rolls(long frameBytes) {
    return active == null
        || active.count() >= mostBatches
        || (active.frames.end() > activeStart && active.frames.end() + frameBytes > activeLimit);
  }

  /**
   * Writes an encoded frame.
   *
   * @throws IOException if it failed; the frame must be encoded again
   */
  void write(Frame frame, long frameBytes) throws IOException {
    Segment before = active;
    replaceUnsound();
    if (rolls(frameBytes)) {
      roll();
    }
    if (active != before) {
      encode(frame);
    }
    FrameFile file = active.frames;
    long bodies = file.end() + FrameFile.HEAD_BYTES + content.length();
    file.append(content, frame.batches(), config.flush() == Flush.COMMIT);
    if (config.flush() == Flush.OS) {
      flusher.add(file);
    }
    segments.append(active, frame.batches(), bodies);
  }

  /** Returns whether a force of the active segment failed. */
  boolean isUnsound() {
    return active != null && active.frames.isUnsound();
  }

  /** Returns whether segments must be replaced, because a force failed. */
  boolean hasUnsound() {
    return !segments.unsound(active).isEmpty();
  }

  /**
   * Begins a new segment. If that fails, the active segment stays in use. If the active segment is
   * unsound, the new one replaces it.
   */
  void roll() throws IOException {
    if (isUnsound()) {
      replace(List.of(active));
      return;
    }
    if (active != null) {
      // Removes a failed frame before the segment ends.
      active.frames.mend();
    }
    long segmentBytes = segmentBytes();
    FrameFile file = files.create(files.segment(nextNumber));
    Segment begun = new Segment(nextNumber, file, files);
    boolean done = false;
    try {
      appendState(file, content, segmentBytes);
      // Older segments may be deleted after this force.
      file.force();
      files.forceNames();
      done = true;
    } finally {
      if (!done) {
        begun.delete();
      }
    }
    segments.add(begun);
    activate(begun, segmentBytes);
  }

  private void appendState(FrameFile file, FrameBuffer buffer, long segmentBytes)
      throws IOException {
    state.write(buffer, segmentBytes);
    file.append(buffer, List.of(), false);
  }

  private void activate(Segment begun, long segmentBytes) {
    nextNumber += NUMBER_STEP;
    active = begun;
    activeStart = begun.frames.end();
    activeLimit = activeStart + segmentBytes;
    begun.hasState();
  }

  /**
   * Returns the bytes a segment may grow beyond its first frame; few on a small disk, which is then
   * freed in parts.
   */
  private long segmentBytes() {
    long disk = segments.bytes() + files.usableBytes();
    return Math.clamp(
        Math.min(config.maxBytes(), disk) / SEGMENTS,
        SMALLEST_SEGMENT_BYTES,
        LARGEST_SEGMENT_BYTES);
  }

  /**
   * Replaces segments whose force failed. No sender is answered until that succeeds, because the
   * old segments may have a refused frame.
   */
  void replaceUnsound() throws IOException {
    List<Segment> unsound = segments.unsound(active);
    if (unsound.isEmpty()) {
      return;
    }
    if (active == null || isUnsound()) {
      roll();
    }
    for (Segment segment : unsound) {
      // It may have been replaced together with another segment.
      if (segments.all().contains(segment)) {
        replace(upToFreeNumber(segment));
      }
    }
    flusher.logRewritten(unsound.size(), files.directory());
  }

  /** Returns the segment and its successors, up to the first that is followed by a free number. */
  private List<Segment> upToFreeNumber(Segment first) {
    List<Segment> all = segments.all();
    int from = all.indexOf(first);
    int to = from + 1;
    while (!MergePlan.hasNumber(all, to)) {
      to++;
    }
    return all.subList(from, to);
  }

  /** Merges segments with few unsettled bytes; returns false if none are worth it. */
  boolean merge() throws IOException {
    List<Segment> sources = segments.toMerge(segmentBytes(), mostBatches);
    if (sources.isEmpty()) {
      return false;
    }
    replace(sources);
    return true;
  }

  /**
   * Copies the unsettled batches of neighbouring segments to one that replaces them; it becomes the
   * active one if it replaces the active one. A kill at any moment leaves the old segments or the
   * new one.
   */
  private void replace(List<Segment> sources) throws IOException {
    boolean isActive = sources.getLast() == active;
    long number = isActive ? nextNumber : sources.getLast().number + 1;
    // Includes segments that an earlier merge replaced and could not delete.
    long first = sources.getFirst().lowest();
    long last = sources.getLast().number;
    if (!FrameContent.mayReplace(first, last, number)) {
      throw new IllegalStateException("segment " + number + " must be after those it replaces");
    }
    long segmentBytes = segmentBytes();
    FrameFile file = files.create(files.unfinished(number));
    List<SpooledBatch> unsettled = segments.unsettled(sources);
    long[] offsets = new long[unsettled.size()];
    boolean done = false;
    try {
      mergeContent.clear();
      mergeContent.putByte(FrameContent.MERGED).putLong(first).putLong(last);
      file.append(mergeContent, List.of(), false);
      if (isActive) {
        appendState(file, content, segmentBytes);
      }
      int copied = 0;
      while (copied < unsettled.size()) {
        copied = copy(unsettled, copied, file, offsets);
      }
      file.force();
      file.moveTo(files.segment(number));
      files.forceNames();
      done = true;
    } finally {
      if (!done) {
        file.close();
        files.delete(file.path());
      }
    }
    Segment replacement = new Segment(number, file, files);
    replacement.replaces(first);
    segments.replace(sources, unsettled, offsets, replacement);
    if (isActive) {
      activate(replacement, segmentBytes);
    }
    settled.delete(sources);
  }

  /** Copies batches of one run to a frame. Returns the index of the next batch to copy. */
  private int copy(List<SpooledBatch> from, int start, FrameFile to, long[] offsets)
      throws IOException {
    AgentIdentity run = from.get(start).agent();
    List<SpooledBatch> copies = new ArrayList<>();
    long copyBytes = 0;
    int end = start;
    while (end < from.size()
        && from.get(end).agent().equals(run)
        && (end == start || copyBytes + from.get(end).length() <= COPY_BYTES)) {
      SpooledBatch batch = from.get(end);
      copies.add(batch.with(bodyOf(batch)));
      copyBytes += batch.length();
      end++;
    }
    FrameContent.write(mergeContent, FrameContent.kind(copies), run, copies, List.of(), List.of());
    long at = to.end() + FrameFile.HEAD_BYTES + mergeContent.length();
    for (int i = start; i < end; i++) {
      offsets[i] = at;
      at += from.get(i).length();
    }
    to.append(mergeContent, copies, false);
    return end;
  }

  /**
   * Returns the body from disk, unchecked; the check is made before it is sent. After a failed
   * force the disk may lack it, so a body in memory is preferred.
   */
  private static byte[] bodyOf(SpooledBatch batch) throws IOException {
    FrameFile file = batch.segment.frames;
    // The publisher may release or load it meanwhile, so its checksum is compared.
    byte[] inMemory = file.isUnsound() ? batch.body() : null;
    if (inMemory != null && batch.isBody(inMemory)) {
      return inMemory;
    }
    return file.read(batch.offset, batch.length());
  }
}
