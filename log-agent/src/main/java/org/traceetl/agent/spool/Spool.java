package org.traceetl.agent.spool;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.FileChannel;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.traceetl.agent.config.SpoolConfig;
import org.traceetl.agent.config.SpoolConfig.Flush;
import org.traceetl.agent.config.SpoolConfig.WhenFull;
import org.traceetl.agent.flow.AnsweredRequests;
import org.traceetl.agent.flow.AnsweredRequests.Answered;
import org.traceetl.agent.flow.Checkpoint;
import org.traceetl.agent.state.AgentIdentity;
import org.traceetl.agent.state.DirectoryLock;
import org.traceetl.common.LogThrottle;
import org.traceetl.common.SteppedTask;
import org.traceetl.common.SteppedThread;

/**
 * The accepted, unpublished batches on disk: segments of frames. A frame has the batches of some
 * payloads, and their checkpoints: read positions, or answers to senders. After a kill at any
 * moment, a payload is there with its checkpoint, or absent.
 *
 * <p>A new segment begins with all positions and remembered requests. So every segment except the
 * newest can be deleted once its batches are settled (published or dropped).
 *
 * <p>A failed force (fsync) is not repeated: the system may have dropped unwritten pages, and the
 * next force of that file succeeds nevertheless. The segment's unsettled batches are written, with
 * their names, to a new segment that replaces it. No sender is answered until that segment is
 * forced.
 *
 * <p>Only the pipeline thread writes, rolls and deletes the files; after its end, the thread that
 * closes does. Any thread may read bodies and settle batches.
 */
public final class Spool implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(Spool.class);

  private static final int MOST_PLACES = 8_192;
  private static final int MOST_REQUESTS = 100_000;

  /** Bytes of a request on disk, with a short reason. */
  private static final int REQUEST_BYTES = 48;

  private static final long SMALLEST_SEGMENT_BYTES = 256 * 1024;
  private static final long LARGEST_SEGMENT_BYTES = 64 * 1024 * 1024;

  /** Approximate segments of a full spool; the unit in which the oldest batches are dropped. */
  private static final int SEGMENTS = 16;

  /** If less is free, the spool reports that it is full, although a small payload may still fit. */
  private static final int LEAST_ROOM_BYTES = 1024 * 1024;

  /** Distance between the numbers of new segments; a merged segment takes a number between them. */
  private static final int NUMBER_STEP = 16;

  /** Bytes of bodies that a merge keeps in memory, unless one body is larger. */
  private static final int COPY_BYTES = 1024 * 1024;

  private static final long TEND_NANOS = TimeUnit.MILLISECONDS.toNanos(100);
  private static final long RETRY_NANOS = TimeUnit.SECONDS.toNanos(1);
  private static final long FLUSH_NANOS = TimeUnit.SECONDS.toNanos(1);

  /** Unsettled batches for one broker. Guarded by the spool's lock. */
  private static final class Part {
    private long bytes;
    private int batches;

    void add(SpooledBatch batch, int sign) {
      bytes += (long) sign * (batch.length() + Segment.BATCH_BYTES);
      batches += sign;
    }
  }

  private final SpoolConfig config;
  // Limits a segment of many small batches, so that dropping the oldest segment drops few.
  private final int mostSegmentBatches;
  private final AgentIdentity agent;
  private final SpoolMetrics metrics;
  private final LongSupplier nanoClock;
  private final FrameFile.Force force;
  private final long startMillis;
  private final long startNanos;
  private final LogThrottle failureLog;
  private final DirectoryLock directoryLock;
  private final AnsweredRequests answered;
  private final SequencedMap<String, Checkpoint.Position> places;
  private final SteppedThread flusher;
  private final Set<FrameFile> unforced = ConcurrentHashMap.newKeySet();

  // Owned by the writing thread.
  private final FrameBuffer content = new FrameBuffer();
  // Separate, because a merge runs while a frame waits in the other buffer.
  private final FrameBuffer mergeContent = new FrameBuffer();
  private Outlet outlet;
  private List<SpooledBatch> recovered;
  private long nextNumber;
  // Null while no segment could be created.
  private Segment active;
  private long activeStart;
  private long activeLimit;
  private long nextTendNanos;
  private long nextTryNanos;
  private long nextMergeNanos;
  private long placeBytes;
  private boolean closed;

  private final Object lock = new Object();
  // Guarded by lock. Oldest first.
  private final ArrayDeque<Segment> segments = new ArrayDeque<>();
  private final Map<String, Part> parts = new HashMap<>();
  private int batches;
  private long batchBytes;
  private long spans;

  // Written by the writing thread only.
  private volatile long bytes;
  // Kept free for the state of the next segment.
  private volatile long reservedBytes;
  private volatile String failure = "";
  private volatile long retryNanos;

  private Spool(
      SpoolConfig config,
      AgentIdentity agent,
      SpoolMetrics metrics,
      LongSupplier nanoClock,
      FrameFile.Force force,
      long startMillis,
      DirectoryLock directoryLock,
      AnsweredRequests answered,
      SpoolRecovery recovery) {
    this.config = config;
    mostSegmentBatches = Math.ceilDiv(config.maxBatches(), SEGMENTS);
    this.agent = agent;
    this.metrics = metrics;
    this.nanoClock = nanoClock;
    this.force = force;
    this.startMillis = startMillis;
    this.startNanos = nanoClock.getAsLong();
    this.failureLog = new LogThrottle(nanoClock);
    this.flusher = new SteppedThread("spool-flush", new Flusher(), new LogThrottle(nanoClock));
    this.directoryLock = directoryLock;
    this.answered = answered;
    this.places = recovery.places;
    this.placeBytes = places.values().stream().mapToLong(Spool::bytesOf).sum();
    reserve();
    this.nextTendNanos = nanoClock.getAsLong();
    this.nextTryNanos = nextTendNanos;
    this.nextMergeNanos = nextTendNanos;
  }

  /**
   * Opens the spool: reads the segments of earlier runs, and begins a new one.
   *
   * @param agent this run
   * @param unixMillis read once, if earlier runs left no date to continue from
   * @throws IOException if the directory cannot be used, or its disk is full and the spool has no
   *     batch to publish, with a message for the operator
   */
  public static Spool open(
      SpoolConfig config,
      AgentIdentity agent,
      SpoolMetrics metrics,
      LongSupplier nanoClock,
      LongSupplier unixMillis)
      throws IOException {
    return open(config, agent, metrics, nanoClock, unixMillis, FrameFile.Force.CONTENT);
  }

  /** Opens a spool whose segments are forced by {@code force}. */
  static Spool open(
      SpoolConfig config,
      AgentIdentity agent,
      SpoolMetrics metrics,
      LongSupplier nanoClock,
      LongSupplier unixMillis,
      FrameFile.Force force)
      throws IOException {
    try {
      Files.createDirectories(config.directory());
      DirectoryLock directoryLock = DirectoryLock.take(config.directory(), "spool.directory");
      AnsweredRequests answered = new AnsweredRequests(mostRequests(config));
      FrameFile.Force counted = counted(force, metrics);
      SpoolRecovery recovery = new SpoolRecovery(config.directory(), counted, answered);
      boolean opened = false;
      try {
        recovery.read();
        long startMillis = recovery.newestMillis().orElseGet(unixMillis);
        answered.goOn(startMillis);
        Spool spool =
            new Spool(
                config,
                agent,
                metrics,
                nanoClock,
                counted,
                startMillis,
                directoryLock,
                answered,
                recovery);
        spool.begin(recovery);
        opened = true;
        return spool;
      } finally {
        if (!opened) {
          recovery.close();
          directoryLock.close();
        }
      }
    } catch (FileSystemException e) {
      throw new IOException(cannotBeUsed(config, e), e);
    } catch (IOException e) {
      throw isNoSpace(e) ? new IOException(cannotBeUsed(config, e), e) : e;
    }
  }

  private static FrameFile.Force counted(FrameFile.Force force, SpoolMetrics metrics) {
    return (path, channel) -> {
      try {
        force.force(path, channel);
      } catch (ClosedChannelException e) {
        throw e;
      } catch (IOException e) {
        metrics.flushFailures.inc();
        throw e;
      }
    };
  }

  private static String cannotBeUsed(SpoolConfig config, IOException e) {
    String what =
        switch (e) {
          case AccessDeniedException denied -> "permission denied for " + denied.getFile();
          case FileSystemException failed when failed.getReason() != null ->
              failed.getReason() + ": " + failed.getFile();
          default -> String.valueOf(e.getMessage());
        };
    return "spool.directory = "
        + config.directory().toAbsolutePath()
        + ": cannot be used ("
        + what
        + "): "
        + (isNoSpace(e) ? "free space on its disk" : "let the agent's user write there")
        + ", or set spool.directory to another one";
  }

  private static boolean isNoSpace(IOException e) {
    String message = String.valueOf(e.getMessage());
    return message.contains("No space left") || message.contains("quota exceeded");
  }

  /** Returns how many requests are remembered with their answers. */
  public static int mostRequests(SpoolConfig config) {
    return (int) Math.min(MOST_REQUESTS, config.maxBytes() / SEGMENTS / REQUEST_BYTES);
  }

  private void begin(SpoolRecovery recovery) throws IOException {
    segments.addAll(recovery.segments);
    nextNumber = segments.isEmpty() ? 1 : segments.getLast().number + NUMBER_STEP;
    recovered = new ArrayList<>();
    for (Segment segment : segments) {
      List<SpooledBatch> unsettled = segment.allUnsettled();
      unsettled.forEach(this::count);
      recovered.addAll(unsettled);
    }
    measure();
    deleteSettled();
    metrics.observe(this, config);
    metrics.spansRecovered.inc((double) (spans + recovery.damagedSpans));
    metrics.drop(Settlement.DAMAGED, recovery.damagedBatches, recovery.damagedSpans);
    metrics.damagedFrames.inc(recovery.damagedFrames);
    if (!recovered.isEmpty()) {
      log.info(
          "The spool holds {} batches with {} spans from earlier runs; the agent sends them first",
          batches,
          spans);
    }
    forceRecovered();
    try {
      roll();
      replaceUnsound();
    } catch (IOException e) {
      if (recovered.isEmpty() || !isNoSpace(e) && unsound().isEmpty()) {
        throw e;
      }
      // The agent starts nevertheless: sent batches make room, and a later start would not know of
      // a failed force.
      failed(e);
    }
    deleteSettled();
    flusher.start();
  }

  /**
   * Forces earlier segments: the previous run may have been killed between a write and its force.
   */
  private void forceRecovered() {
    for (Segment segment : segments) {
      if (config.flush() == Flush.OS) {
        unforced.add(segment.frames);
      } else {
        force(segment.frames);
      }
    }
  }

  /**
   * Returns the unpublished batches of earlier runs, in the order to send them; empty on later
   * calls.
   */
  public List<SpooledBatch> takeRecovered() {
    List<SpooledBatch> taken = recovered;
    recovered = List.of();
    return taken;
  }

  /**
   * Returns the positions where sources continue, the last changed at the end. Call before the
   * first commit.
   */
  public List<Checkpoint.Position> places() {
    return List.copyOf(places.values());
  }

  /** Returns the recently answered requests; commits update them. */
  public AnsweredRequests answered() {
    return answered;
  }

  /** Sets the receiver of batches. Call before the first commit. */
  public void outlet(Outlet to) {
    outlet = to;
  }

  /**
   * Returns the milliseconds that date batches and answers. They begin at the newest date of
   * earlier runs, or at the Unix time if there is none, and advance by elapsed time only. So a step
   * of the wall clock changes no age. Safe for any thread.
   */
  public long nowMillis() {
    return startMillis + TimeUnit.NANOSECONDS.toMillis(nanoClock.getAsLong() - startNanos);
  }

  /** Returns the most bytes of a frame; a larger payload cannot be stored. */
  public long mostFrameBytes() {
    return Math.min(FrameFile.MAX_CONTENT_BYTES, config.maxBytes() / 4);
  }

  /**
   * Returns whether payloads should be accepted. Safe for any thread.
   *
   * @param payloadBytes of the new payload and the uncommitted ones
   * @param alone true if there are no uncommitted ones
   */
  public boolean hasRoom(long payloadBytes, boolean alone) {
    if (!failure.isEmpty()) {
      // One payload at a time tests whether the spool is writable again.
      return alone && nanoClock.getAsLong() - retryNanos >= 0;
    }
    return config.whenFull() == WhenFull.DROP_OLDEST
        || (bytes + reservedBytes + payloadBytes <= config.maxBytes()
            && batches() < config.maxBatches());
  }

  /** Returns why the spool accepts nothing now; empty if it does. Safe for any thread. */
  public String problem() {
    if (!failure.isEmpty()) {
      return "the agent cannot write the spool: " + failure;
    }
    return hasRoom(LEAST_ROOM_BYTES, true) ? "" : "the spool is full";
  }

  /**
   * Writes the frame to disk and passes its batches to the outlet. After that, its payloads can be
   * answered.
   *
   * @throws IOException if the spool is full or could not be written; nothing of the frame is kept
   */
  public void commit(Frame frame) throws IOException {
    encode(frame);
    long frameBytes = FrameFile.frameBytes(content, frame.batches());
    // The next state repeats the frame's positions and requests.
    makeRoom(frameBytes, reservedBytes + content.length(), frame.batches().size());
    try {
      write(frame, frameBytes);
    } catch (IOException e) {
      metrics.writeFailures.inc();
      failed(e);
      throw e;
    }
    metrics.frames.inc();
    frame.requests().forEach(request -> answered.add(request.request(), request.answer()));
    frame.places().forEach(this::keep);
    reserve();
    if (!frame.batches().isEmpty()) {
      outlet.append(frame.batches());
    }
    if (!failure.isEmpty()) {
      writtenAgain();
    }
  }

  private void writtenAgain() {
    failure = "";
    log.info("The spool is writable again");
  }

  private void write(Frame frame, long frameBytes) throws IOException {
    boolean triedAnotherFile = false;
    while (true) {
      try {
        writeOnce(frame, frameBytes);
        return;
      } catch (IOException e) {
        // Before a sender is refused, a new segment is tried once.
        boolean another = !triedAnotherFile && active != null && active.frames.isUnsound();
        boolean again =
            another || config.whenFull() == WhenFull.DROP_OLDEST && isNoSpace(e) && dropOldest();
        if (!again) {
          throw e;
        }
        triedAnotherFile |= another;
        encode(frame);
      } finally {
        measure();
      }
    }
  }

  private void writeOnce(Frame frame, long frameBytes) throws IOException {
    Segment before = active;
    replaceUnsound();
    if (active == null
        || active.count() >= mostSegmentBatches
        || (active.frames.end() > activeStart && active.frames.end() + frameBytes > activeLimit)) {
      roll();
    }
    if (active != before) {
      encode(frame);
    }
    FrameFile file = active.frames;
    long bodies = file.end() + FrameFile.HEAD_BYTES + content.length();
    file.append(content, frame.batches(), config.flush() == Flush.COMMIT);
    if (config.flush() == Flush.OS) {
      unforced.add(file);
    }
    synchronized (lock) {
      for (SpooledBatch batch : frame.batches()) {
        batch.offset = bodies;
        bodies += batch.length();
        active.add(batch);
        count(batch);
      }
    }
  }

  private void encode(Frame frame) {
    FrameContent.write(
        content,
        FrameContent.BATCHES,
        frame.agent(),
        frame.batches(),
        frame.requests(),
        frame.places());
  }

  private void count(SpooledBatch batch) {
    batches++;
    batchBytes += batch.length();
    spans += batch.spans();
    parts.computeIfAbsent(batch.queue().broker(), broker -> new Part()).add(batch, 1);
  }

  private void keep(Checkpoint.Position place) {
    Checkpoint.Position before = places.get(place.name());
    SpoolRecovery.keep(places, place);
    placeBytes -= before == null ? 0 : bytesOf(before);
    placeBytes += place.content().isEmpty() ? 0 : bytesOf(place);
    if (places.size() > MOST_PLACES) {
      placeBytes -= bytesOf(places.pollFirstEntry().getValue());
    }
  }

  private static long bytesOf(Checkpoint.Position place) {
    return FrameContent.PLACE_BYTES
        + place.name().getBytes(UTF_8).length
        + place.content().getBytes(UTF_8).length;
  }

  /** Updates the bytes reserved for the start of a new segment: a merge record and the state. */
  private void reserve() {
    reservedBytes =
        2L * FrameFile.HEAD_BYTES
            + FrameContent.MERGED_BYTES
            + FrameContent.STATE_BYTES
            + placeBytes
            + answered.bytes(FrameContent.REQUEST_BYTES);
  }

  private void failed(IOException e) {
    failure = String.valueOf(e.getMessage());
    retryNanos = nanoClock.getAsLong() + RETRY_NANOS;
    if (failureLog.permits()) {
      log.error(
          "Cannot write the spool in {}: {}. Senders must wait; batches in the spool are still"
              + " sent. Free space on its disk or repair the reported error",
          config.directory().toAbsolutePath(),
          e.toString());
    }
  }

  /** Makes room for the frame and for the state of the next segment. */
  private void makeRoom(long frameBytes, long stateBytes, int frameBatches) throws IOException {
    long needed = frameBytes + stateBytes;
    if (needed > config.maxBytes() || frameBatches > config.maxBatches()) {
      // It would not fit even in an empty spool.
      throw new IOException(
          "a group of payloads that has to be written together is too large: "
              + frameBytes
              + " bytes in "
              + frameBatches
              + " batches; allowed are spool.max-bytes = "
              + config.maxBytes()
              + " and spool.max-batches = "
              + config.maxBatches());
    }
    deleteSettled();
    while (bytes + needed > config.maxBytes() || batches() + frameBatches > config.maxBatches()) {
      boolean more =
          bytes + needed > config.maxBytes() && merge()
              || config.whenFull() == WhenFull.DROP_OLDEST && dropOldest();
      if (!more) {
        throw new IOException(
            "the spool is full: it has "
                + bytes
                + " of spool.max-bytes = "
                + config.maxBytes()
                + " bytes, and "
                + batches()
                + " of spool.max-batches = "
                + config.maxBatches()
                + " batches");
      }
    }
  }

  /**
   * Drops the unsettled batches of the oldest deletable segment. Returns false if there are none.
   */
  private boolean dropOldest() {
    List<SpooledBatch> dropped = List.of();
    synchronized (lock) {
      for (Segment segment : deletable()) {
        if (dropped.isEmpty()) {
          dropped = segment.allUnsettled();
        }
      }
      dropped.forEach(batch -> settle(batch, Settlement.FULL));
    }
    if (dropped.isEmpty()) {
      return false;
    }
    if (failureLog.permits()) {
      log.warn(
          "The spool is full: dropped its oldest {} batches, as spool.when-full configures",
          dropped.size());
    }
    outlet.forget(dropped);
    deleteSettled();
    return true;
  }

  /**
   * Begins a new segment. If that fails, the active segment stays in use. If the active segment is
   * unsound, the new one replaces it.
   */
  private void roll() throws IOException {
    if (active != null && active.frames.isUnsound()) {
      replace(List.of(active));
      return;
    }
    if (active != null) {
      // Removes a failed frame before the segment ends.
      active.frames.mend();
    }
    long segmentBytes = segmentBytes();
    Path path = config.directory().resolve(SpoolRecovery.name(nextNumber));
    FrameFile file = FrameFile.create(path, force);
    Segment begun = new Segment(nextNumber, file);
    boolean done = false;
    try {
      appendState(file, segmentBytes);
      // Older segments may be deleted after this force.
      file.force();
      forceDirectory();
      done = true;
    } finally {
      if (!done) {
        begun.delete();
      }
    }
    if (active != null) {
      active.frames.endAppending();
    }
    synchronized (lock) {
      segments.addLast(begun);
    }
    activate(begun, segmentBytes);
    measure();
  }

  private void appendState(FrameFile file, long segmentBytes) throws IOException {
    FrameContent.write(
        content,
        FrameContent.STATE,
        agent,
        List.of(),
        // At most as many bytes as the rest of the segment.
        newest(answered.all(nowMillis()), (int) (segmentBytes / REQUEST_BYTES)),
        places.values());
    file.append(content, List.of(), false);
  }

  private void activate(Segment begun, long segmentBytes) {
    nextNumber += NUMBER_STEP;
    active = begun;
    activeStart = begun.frames.end();
    activeLimit = activeStart + segmentBytes;
    begun.hasState();
  }

  private static List<Answered> newest(List<Answered> all, int most) {
    return all.subList(Math.max(0, all.size() - most), all.size());
  }

  /**
   * Returns the bytes a segment may grow beyond its first frame; few on a small disk, which is then
   * freed in parts.
   */
  private long segmentBytes() {
    long disk = bytes + config.directory().toFile().getUsableSpace();
    return Math.clamp(
        Math.min(config.maxBytes(), disk) / SEGMENTS,
        SMALLEST_SEGMENT_BYTES,
        LARGEST_SEGMENT_BYTES);
  }

  private void forceDirectory() throws IOException {
    try (FileChannel self = FileChannel.open(config.directory(), StandardOpenOption.READ)) {
      self.force(true);
    }
  }

  private void measure() {
    long sum = 0;
    synchronized (lock) {
      for (Segment segment : segments) {
        sum += segment.bytes();
      }
    }
    bytes = sum;
  }

  /**
   * Settles a batch as published or dropped; only the first call counts.
   *
   * @return false if it was already settled
   */
  public boolean settle(SpooledBatch batch, Settlement how) {
    synchronized (lock) {
      if (batch.isSettled()) {
        return false;
      }
      batch.settle();
      batch.segment.settle(batch);
      batches--;
      batchBytes -= batch.length();
      spans -= batch.spans();
      parts.get(batch.queue().broker()).add(batch, -1);
    }
    if (how != Settlement.PUBLISHED) {
      metrics.drop(how, 1, batch.spans());
    }
    return true;
  }

  /**
   * Reads a batch's body.
   *
   * @return null if it was settled meanwhile
   * @throws DamagedBatchException if its bytes differ from those written
   * @throws IOException if it cannot be read now
   */
  public byte[] read(SpooledBatch batch) throws IOException {
    while (true) {
      Segment segment;
      long offset;
      synchronized (lock) {
        if (batch.isSettled()) {
          return null;
        }
        segment = batch.segment;
        offset = batch.offset;
      }
      try {
        return read(batch, segment.frames, offset);
      } catch (ClosedChannelException e) {
        synchronized (lock) {
          if (!batch.isSettled() && batch.segment == segment) {
            throw e;
          }
          // It was settled or moved to another segment meanwhile.
        }
      }
    }
  }

  private static byte[] read(SpooledBatch batch, FrameFile file, long offset) throws IOException {
    byte[] body = file.read(offset, batch.length());
    if (!batch.isBody(body)) {
      throw new DamagedBatchException(
          file.path() + " has other bytes at " + offset + " than were written");
    }
    return body;
  }

  /**
   * Records settled batches, deletes settled segments, retries failed writes, and merges. Call
   * often; it works ten times a second.
   */
  public void tend() {
    long now = nanoClock.getAsLong();
    if (now - nextTendNanos >= 0) {
      nextTendNanos = now + TEND_NANOS;
      deleteSettled();
      writeSettled();
      if (failure.isEmpty()) {
        tryToReplaceUnsound();
      } else {
        tryAgain(now);
      }
      measure();
      if (bytes > config.maxBytes() / 2) {
        merge();
      }
    }
  }

  /**
   * Tests after a failure whether the spool is writable again. Payloads would test it too, but
   * senders may stop while the agent reports the problem.
   */
  private void tryAgain(long now) {
    if (now - retryNanos < 0 || now - nextTryNanos < 0) {
      return;
    }
    nextTryNanos = now + RETRY_NANOS;
    try {
      // With less space a segment may fit, but not the next payload.
      if (config.directory().toFile().getUsableSpace() >= LEAST_ROOM_BYTES) {
        roll();
        replaceUnsound();
        writtenAgain();
      }
    } catch (IOException e) {
      failure = String.valueOf(e.getMessage());
    }
  }

  private void tryToReplaceUnsound() {
    try {
      replaceUnsound();
    } catch (IOException e) {
      failed(e);
    }
  }

  /**
   * Replaces segments whose force failed. No sender is answered until that succeeds, because the
   * old segments may have a refused frame.
   */
  private void replaceUnsound() throws IOException {
    List<Segment> unsound = unsound();
    if (unsound.isEmpty()) {
      return;
    }
    if (active == null || active.frames.isUnsound()) {
      roll();
    }
    for (Segment segment : unsound) {
      // It may have been replaced together with another segment.
      if (segments().contains(segment)) {
        replace(upToFreeNumber(segment));
      }
    }
    measure();
    if (failureLog.permits()) {
      log.warn(
          "Rewrote {} spool segments because their flush to the disk failed. Check the disk of {}",
          unsound.size(),
          config.directory().toAbsolutePath());
    }
  }

  private List<Segment> unsound() {
    List<Segment> unsound = List.of();
    synchronized (lock) {
      for (Segment segment : segments) {
        if (segment.frames.isUnsound() && (segment == active || segment.unsettled() > 0)) {
          unsound = new ArrayList<>(unsound);
          unsound.add(segment);
        }
      }
    }
    return unsound;
  }

  /** Returns the segment and its successors, up to the first that is followed by a free number. */
  private List<Segment> upToFreeNumber(Segment first) {
    List<Segment> all = segments();
    int from = all.indexOf(first);
    int to = from + 1;
    while (!MergePlan.hasNumber(all, to)) {
      to++;
    }
    return all.subList(from, to);
  }

  private List<Segment> segments() {
    synchronized (lock) {
      return new ArrayList<>(segments);
    }
  }

  /** Returns the segments whose positions and requests are in a newer one. Call with the lock. */
  private List<Segment> deletable() {
    List<Segment> all = new ArrayList<>(segments);
    while (!all.isEmpty() && !all.removeLast().isState()) {
      // A segment without a state does not replace earlier ones.
    }
    return all;
  }

  private void deleteSettled() {
    List<Segment> done;
    synchronized (lock) {
      done = deletable();
      done.removeIf(segment -> segment.unsettled() > 0);
      segments.removeAll(done);
    }
    delete(done);
    if (!done.isEmpty()) {
      measure();
    }
  }

  private void delete(List<Segment> done) {
    for (Segment segment : done) {
      unforced.remove(segment.frames);
      try {
        segment.delete();
      } catch (IOException e) {
        if (failureLog.permits()) {
          log.warn(
              "Cannot delete {}: {}. After a restart its batches are sent again, and the server"
                  + " discards the duplicates",
              segment.frames.path(),
              e.toString());
        }
      }
    }
  }

  /**
   * Merges segments with few unsettled bytes.
   *
   * @return whether bytes were freed
   */
  private boolean merge() {
    long now = nanoClock.getAsLong();
    if (now - nextMergeNanos < 0) {
      return false;
    }
    List<Segment> sources;
    long mostBytes = segmentBytes();
    synchronized (lock) {
      sources =
          List.copyOf(
              new MergePlan(
                      List.copyOf(segments), deletable().size(), mostBytes, mostSegmentBatches)
                  .sources());
    }
    if (sources.isEmpty()) {
      return false;
    }
    try {
      replace(sources);
      return true;
    } catch (IOException e) {
      nextMergeNanos = now + RETRY_NANOS;
      if (failureLog.permits()) {
        log.warn(
            "Cannot merge spool segments: {}. Confirmed batches keep their space until a retry"
                + " succeeds",
            e.toString());
      }
      return false;
    } finally {
      measure();
    }
  }

  /**
   * Copies the unsettled batches of neighbouring segments to one that replaces them; it becomes the
   * active one if it replaces the active one. A kill at any moment leaves the old segments or the
   * new one.
   */
  private void replace(List<Segment> sources) throws IOException {
    boolean isActive = sources.getLast() == active;
    long number = isActive ? nextNumber : sources.getLast().number + 1;
    long segmentBytes = segmentBytes();
    Path path = config.directory().resolve(SpoolRecovery.name(number));
    FrameFile file =
        FrameFile.create(
            path.resolveSibling(path.getFileName() + Segment.UNFINISHED_SUFFIX), force);
    List<SpooledBatch> unsettled = new ArrayList<>();
    synchronized (lock) {
      sources.forEach(segment -> unsettled.addAll(segment.allUnsettled()));
    }
    long[] offsets = new long[unsettled.size()];
    boolean done = false;
    try {
      mergeContent.clear();
      mergeContent.putByte(FrameContent.MERGED);
      mergeContent.putLong(sources.getFirst().number).putLong(sources.getLast().number);
      file.append(mergeContent, List.of(), false);
      if (isActive) {
        appendState(file, segmentBytes);
      }
      int copied = 0;
      while (copied < unsettled.size()) {
        copied = copy(unsettled, copied, file, offsets);
      }
      file.force();
      file.moveTo(path);
      forceDirectory();
      done = true;
    } finally {
      if (!done) {
        file.close();
        Files.deleteIfExists(file.path());
      }
    }
    Segment replacement = new Segment(number, file);
    replacement.replaces(sources.getFirst().number);
    replace(sources, unsettled, offsets, replacement);
    if (isActive) {
      activate(replacement, segmentBytes);
    } else {
      file.endAppending();
    }
    delete(sources);
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
    FrameContent.write(mergeContent, FrameContent.BATCHES, run, copies, List.of(), List.of());
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

  private void replace(
      List<Segment> sources, List<SpooledBatch> unsettled, long[] offsets, Segment merged) {
    synchronized (lock) {
      for (int i = 0; i < offsets.length; i++) {
        SpooledBatch batch = unsettled.get(i);
        if (batch.isSettled()) {
          merged.addSettled(batch.spans());
        } else {
          merged.add(batch);
          batch.offset = offsets[i];
        }
      }
      List<Segment> all = new ArrayList<>(segments);
      all.set(all.indexOf(sources.getFirst()), merged);
      all.removeAll(sources);
      segments.clear();
      segments.addAll(all);
    }
  }

  private void writeSettled() {
    List<Segment> all;
    synchronized (lock) {
      all = List.copyOf(segments);
    }
    for (Segment segment : all) {
      int[] settled;
      synchronized (lock) {
        settled = segment.takeNewlySettled();
      }
      if (settled != null) {
        try {
          segment.writeSettled(settled, content);
        } catch (IOException e) {
          synchronized (lock) {
            segment.putBackNewlySettled(settled);
          }
          if (failureLog.permits()) {
            log.warn(
                "Cannot record confirmed batches in {}: {}. After a restart the agent sends them"
                    + " again, and the server discards the duplicates",
                config.directory(),
                e.toString());
          }
          return;
        }
      }
    }
  }

  /** Forces files that were written since the last step. */
  private final class Flusher implements SteppedTask {
    @Override
    public long doWork() {
      Collection<FrameFile> files = List.copyOf(unforced);
      unforced.removeAll(files);
      files.forEach(Spool.this::force);
      return FLUSH_NANOS;
    }
  }

  private void force(FrameFile file) {
    if (file.isUnsound()) {
      // A repeated force would succeed and prove nothing.
      return;
    }
    try {
      file.force();
    } catch (ClosedChannelException e) {
      // The file was deleted meanwhile.
    } catch (IOException e) {
      if (failureLog.permits()) {
        log.error(
            "Failed to flush {} to the disk: {}. The agent rewrites its unconfirmed batches to a"
                + " new segment. Check the disk",
            file.path(),
            e.toString());
      }
    }
  }

  /** Returns the number of unsettled batches. Safe for any thread. */
  public int batches() {
    synchronized (lock) {
      return batches;
    }
  }

  /**
   * Returns the broker's share of the spool, from 0 to 1: of bytes or batches, whichever is larger.
   * Safe for any thread.
   */
  public double partOf(String broker) {
    synchronized (lock) {
      Part part = parts.get(broker);
      return part == null
          ? 0
          : Math.max(
              (double) part.bytes / config.maxBytes(), (double) part.batches / config.maxBatches());
    }
  }

  /** Returns the number of spans in unsettled batches. Safe for any thread. */
  public long spans() {
    synchronized (lock) {
      return spans;
    }
  }

  /** Returns the bytes of unsettled batches. Safe for any thread. */
  public long batchBytes() {
    synchronized (lock) {
      return batchBytes;
    }
  }

  /** Returns the bytes on disk. Safe for any thread. */
  public long bytes() {
    return bytes;
  }

  /** Returns false after a failed write, until a retry succeeds. Safe for any thread. */
  boolean isWritable() {
    return failure.isEmpty();
  }

  double oldestSeconds() {
    synchronized (lock) {
      for (Segment segment : segments) {
        SpooledBatch oldest = segment.oldest();
        if (oldest != null) {
          return Math.max(0, nowMillis() - oldest.createdMillis()) / 1e3;
        }
      }
    }
    return 0;
  }

  /** Records settled batches and closes the files. Call after all other use has ended. */
  @Override
  public void close() throws IOException {
    if (closed) {
      return;
    }
    closed = true;
    flusher.close();
    deleteSettled();
    writeSettled();
    unforced.forEach(this::force);
    tryToReplaceUnsound();
    closeSegments();
    directoryLock.close();
  }

  private void closeSegments() throws IOException {
    for (Segment segment : segments) {
      segment.close();
    }
  }
}
