package org.traceetl.agent.spool;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.traceetl.agent.config.SpoolConfig;
import org.traceetl.agent.config.SpoolConfig.Flush;
import org.traceetl.agent.config.SpoolConfig.WhenFull;
import org.traceetl.agent.disk.Disk;
import org.traceetl.agent.flow.AnsweredRequests;
import org.traceetl.agent.flow.Checkpoint;
import org.traceetl.agent.state.AgentIdentity;
import org.traceetl.agent.state.DirectoryLock;
import org.traceetl.common.Clocks;
import org.traceetl.common.LogThrottle;
import org.traceetl.common.SteppedThread;
import org.traceetl.proto.BatchAges;

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

  private static final int MOST_REQUESTS = 100_000;

  /** If less is free, the spool reports that it is full, although a small payload may still fit. */
  private static final int LEAST_ROOM_BYTES = 1024 * 1024;

  private static final long TEND_NANOS = TimeUnit.MILLISECONDS.toNanos(100);
  private static final long RETRY_NANOS = TimeUnit.SECONDS.toNanos(1);

  private final SpoolConfig config;
  private final SpoolMetrics metrics;
  private final SpoolFiles files;
  private final LongSupplier nanoClock;
  private final long startMillis;
  private final long startNanos;
  private final LogThrottle failureLog;
  private final DirectoryLock directoryLock;
  private final SegmentList segments = new SegmentList();
  private final SpoolState state;
  private final Flusher flusher;
  private final SteppedThread flusherThread;
  private final SettledSegments settled;
  private final SegmentWriter writer;
  private final Frame repeats;

  // Owned by the writing thread.
  private Outlet outlet;
  private List<SpooledBatch> recovered = new ArrayList<>();
  private long nextTendNanos;
  private long nextTryNanos;
  private long nextMergeNanos;
  private long nextRepeatsNanos;
  private boolean closed;

  // Written by the writing thread only.
  private volatile long frameSinceMillis = Long.MAX_VALUE;
  private volatile long bytes;
  private volatile String failure = "";
  private volatile long retryNanos;

  private Spool(
      SpoolConfig config,
      AgentIdentity agent,
      SpoolMetrics metrics,
      Clocks clocks,
      DirectoryLock directoryLock,
      SpoolRecovery recovery) {
    this.config = config;
    this.metrics = metrics;
    this.files = recovery.files;
    this.directoryLock = directoryLock;
    nanoClock = clocks.nanoClock();
    startNanos = nanoClock.getAsLong();
    startMillis = recovery.newestMillis().orElseGet(clocks::millis);
    recovery.answered.goOn(this::nowMillis);
    failureLog = new LogThrottle(nanoClock);
    flusher = new Flusher(failureLog);
    flusherThread = new SteppedThread(clocks, "spool-flush", flusher, new LogThrottle(nanoClock));
    settled = new SettledSegments(segments, flusher, failureLog);
    state = new SpoolState(recovery.places, recovery.answered, agent, this::nowMillis);
    repeats = new Frame(agent, this::nowMillis);
    for (Segment segment : recovery.segments) {
      segments.add(segment);
      recovered.addAll(segment.allUnsettled());
    }
    writer = new SegmentWriter(config, files, segments, state, flusher, settled);
    nextTendNanos = startNanos;
    nextTryNanos = startNanos;
    nextMergeNanos = startNanos;
    nextRepeatsNanos = startNanos;
  }

  /**
   * Opens the spool: reads the segments of earlier runs, and begins a new one.
   *
   * @param agent this run
   * @param clocks the wall clock is read once, if earlier runs left no date to continue from
   * @throws IOException if the directory cannot be used, or its disk is full and the spool has no
   *     batch to publish, with a message for the operator
   */
  public static Spool open(
      SpoolConfig config, AgentIdentity agent, SpoolMetrics metrics, Clocks clocks)
      throws IOException {
    return open(config, agent, metrics, clocks, Disk.SYSTEM);
  }

  /** Opens a spool on a given disk. */
  public static Spool open(
      SpoolConfig config, AgentIdentity agent, SpoolMetrics metrics, Clocks clocks, Disk disk)
      throws IOException {
    try {
      disk.createDirectories(config.directory());
      DirectoryLock directoryLock = DirectoryLock.take(config.directory(), "spool.directory", disk);
      SpoolRecovery recovery =
          new SpoolRecovery(
              config.flush(),
              new SpoolFiles(config.directory(), disk, metrics),
              new AnsweredRequests(mostRequests(config)));
      boolean opened = false;
      try {
        recovery.read();
        Spool spool = new Spool(config, agent, metrics, clocks, directoryLock, recovery);
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
    return (int)
        Math.min(
            MOST_REQUESTS, config.maxBytes() / SegmentWriter.SEGMENTS / SpoolState.REQUEST_BYTES);
  }

  private void begin(SpoolRecovery recovery) throws IOException {
    settled.delete();
    measure();
    metrics.observe(this, config);
    metrics.spansRecovered.inc((double) (spans() + recovery.damagedSpans));
    metrics.drop(Settlement.DAMAGED, recovery.damagedBatches, recovery.damagedSpans);
    metrics.damagedFrames.inc(recovery.damagedFrames);
    metrics.repeatedBatches.inc((double) recovery.repeatedBatches);
    if (!recovered.isEmpty()) {
      log.info(
          "The spool holds {} batches with {} spans from earlier runs; the agent sends them first",
          batches(),
          spans());
    }
    forceRecovered();
    try {
      writer.roll();
      writer.replaceUnsound();
    } catch (IOException e) {
      if (recovered.isEmpty() || !isNoSpace(e) && !writer.hasUnsound()) {
        throw e;
      }
      // The agent starts nevertheless: sent batches make room, and a later start would not know of
      // a failed force.
      failed(e);
    }
    settled.delete();
    measure();
    flusherThread.start();
  }

  /**
   * Forces earlier segments: the previous run may have been killed between a write and its force.
   */
  private void forceRecovered() {
    for (Segment segment : segments.all()) {
      if (config.flush() == Flush.OS) {
        flusher.add(segment.frames);
      } else {
        flusher.force(segment.frames);
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
    return state.positions();
  }

  /** Returns the recently answered requests; commits update them. */
  public AnsweredRequests answered() {
    return state.answered();
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

  /**
   * Returns by how much a batch may be dated before now: at most a week, and half the age at which
   * batches are dropped, so that a batch can be published.
   */
  public long mostWaitMillis() {
    return Math.min(BatchAges.MAX_MILLIS, TimeUnit.HOURS.toMillis(config.maxAgeHours()) / 2);
  }

  /** Call before the first batch of a frame is dated, on the writing thread. */
  public void beginFrame() {
    frameSinceMillis = nowMillis();
  }

  /** Call after the frame is committed or given up, on the writing thread. */
  public void endFrame() {
    frameSinceMillis = Long.MAX_VALUE;
  }

  /**
   * Returns a date by {@link #nowMillis}: the outlet has received all batches with an earlier one,
   * except batches of spans that waited for the agent. Safe for any thread.
   */
  public long handedOverUntilMillis() {
    // Read first: a frame that begins later has later dates.
    long now = nowMillis();
    return Math.min(now, frameSinceMillis);
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
    if (!isWritable()) {
      // One payload at a time tests whether the spool is writable again.
      return alone && nanoClock.getAsLong() - retryNanos >= 0;
    }
    return config.whenFull() == WhenFull.DROP_OLDEST || hasFreeRoom(payloadBytes);
  }

  private boolean hasFreeRoom(long payloadBytes) {
    // The states of the next two segments must fit as well: the payload's and a restart's.
    return bytes + 2 * state.bytes() + payloadBytes <= config.maxBytes()
        && batches() < config.maxBatches();
  }

  /** Returns whether more than half of the spool is used. Safe for any thread. */
  public boolean isScarce() {
    return bytes > config.maxBytes() / 2 || batches() > config.maxBatches() / 2;
  }

  /** Returns why the spool accepts nothing now; empty if it does. Safe for any thread. */
  public String problem() {
    if (!isWritable()) {
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
    commit(frame, config.whenFull() == WhenFull.DROP_OLDEST);
  }

  private void commit(Frame frame, boolean mayDrop) throws IOException {
    long frameBytes = writer.encode(frame);
    // The next state repeats the frame's positions and requests. A restart begins a segment too.
    long stateBytes = state.bytes() + writer.encodedBytes();
    makeRoom(
        frameBytes,
        writer.rolls(frameBytes) ? state.bytes() + stateBytes : stateBytes,
        frame.batches().size(),
        mayDrop);
    try {
      write(frame, frameBytes, mayDrop);
    } catch (IOException e) {
      metrics.writeFailures.inc();
      failed(e);
      throw e;
    }
    metrics.frames.inc();
    metrics.writtenBytes.inc((double) frameBytes);
    state.add(frame);
    if (!frame.batches().isEmpty()) {
      outlet.append(frame.batches());
    }
    if (!isWritable()) {
      writtenAgain();
    }
  }

  private void writtenAgain() {
    failure = "";
    log.info("The spool is writable again");
  }

  private void write(Frame frame, long frameBytes, boolean mayDrop) throws IOException {
    boolean triedAnotherFile = false;
    while (true) {
      try {
        writer.write(frame, frameBytes);
        return;
      } catch (IOException e) {
        // Before a sender is refused, a new segment is tried once.
        boolean another = !triedAnotherFile && writer.isUnsound();
        boolean again = another || mayDrop && isNoSpace(e) && dropOldest();
        if (!again) {
          throw e;
        }
        triedAnotherFile |= another;
        writer.encode(frame);
      } finally {
        measure();
      }
    }
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

  /** Makes room for the frame and for the states of the next segments. */
  private void makeRoom(long frameBytes, long stateBytes, int frameBatches, boolean mayDrop)
      throws IOException {
    long needed = frameBytes + stateBytes;
    if (needed > config.maxBytes() || frameBatches > config.maxBatches()) {
      // It would not fit even in an empty spool.
      throw new IOException(
          ("a group of payloads that has to be written together is too large: %d bytes in %d"
                  + " batches; allowed are spool.max-bytes = %d and spool.max-batches = %d")
              .formatted(frameBytes, frameBatches, config.maxBytes(), config.maxBatches()));
    }
    deleteSettled();
    while (bytes + needed > config.maxBytes() || batches() + frameBatches > config.maxBatches()) {
      boolean more = bytes + needed > config.maxBytes() && merge() || mayDrop && dropOldest();
      if (!more) {
        throw new IOException(
            ("the spool is full: it has %d of spool.max-bytes = %d bytes, and %d of"
                    + " spool.max-batches = %d batches")
                .formatted(bytes, config.maxBytes(), batches(), config.maxBatches()));
      }
    }
  }

  /**
   * Drops the unsettled batches of the oldest deletable segment. Returns false if there are none.
   */
  private boolean dropOldest() {
    List<SpooledBatch> dropped = segments.settleOldest();
    if (dropped.isEmpty()) {
      return false;
    }
    dropped.forEach(batch -> metrics.drop(Settlement.FULL, batch));
    if (failureLog.permits()) {
      log.warn(
          "The spool is full: dropped its oldest {} batches, as spool.when-full configures",
          dropped.size());
    }
    outlet.forget(dropped);
    deleteSettled();
    return true;
  }

  private void deleteSettled() {
    settled.delete();
    measure();
  }

  private void measure() {
    bytes = segments.bytes();
  }

  /**
   * Settles a batch as published or dropped; only the first call counts. Safe for any thread.
   *
   * @return false if it was already settled
   */
  public boolean settle(SpooledBatch batch, Settlement how) {
    boolean first = segments.settle(batch);
    if (first && how != Settlement.PUBLISHED) {
      metrics.drop(how, batch);
    }
    return first;
  }

  /**
   * Reads a batch's body. Safe for any thread.
   *
   * @return null if it was settled meanwhile
   * @throws DamagedBatchException if its bytes differ from those written
   * @throws IOException if it cannot be read now
   */
  public byte[] read(SpooledBatch batch) throws IOException {
    return segments.read(batch);
  }

  /**
   * Records settled batches and repeated requests, deletes settled segments, retries failed writes,
   * and merges. Call often; it works ten times a second.
   */
  public void tend() {
    long now = nanoClock.getAsLong();
    if (now - nextTendNanos >= 0) {
      nextTendNanos = now + TEND_NANOS;
      settled.delete();
      settled.record();
      if (isWritable()) {
        tryToReplaceUnsound();
      } else {
        tryAgain(now);
      }
      measure();
      if (bytes > config.maxBytes() / 2) {
        merge();
      }
      recordRepeats(now);
    }
  }

  /** Without room for them, repeats stay due, and drop no batch. */
  private void recordRepeats(long now) {
    if (now - nextRepeatsNanos < 0 || !isWritable() || !hasFreeRoom(LEAST_ROOM_BYTES)) {
      return;
    }
    nextRepeatsNanos = now + RETRY_NANOS;
    answered().due().forEach(repeats::add);
    try {
      if (!repeats.isEmpty() && files.usableBytes() >= LEAST_ROOM_BYTES) {
        commit(repeats, false);
      }
    } catch (IOException e) {
      // They stay due; commit has reported a failed write.
    } finally {
      repeats.clear();
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
      if (files.usableBytes() >= LEAST_ROOM_BYTES) {
        writer.roll();
        writer.replaceUnsound();
        writtenAgain();
      }
    } catch (IOException e) {
      failure = String.valueOf(e.getMessage());
    }
  }

  private void tryToReplaceUnsound() {
    try {
      writer.replaceUnsound();
    } catch (IOException e) {
      failed(e);
    }
  }

  /** Merges segments with few unsettled bytes; returns whether bytes were freed. */
  private boolean merge() {
    long now = nanoClock.getAsLong();
    if (now - nextMergeNanos < 0) {
      return false;
    }
    try {
      return writer.merge();
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

  /** Returns the number of unsettled batches. Safe for any thread. */
  public int batches() {
    return segments.batches();
  }

  /**
   * Returns the broker's share of the spool, from 0 to 1: of bytes or batches, whichever is larger.
   * Safe for any thread.
   */
  public double partOf(String broker) {
    return segments.share(broker, config.maxBytes(), config.maxBatches());
  }

  /** Returns the number of spans in unsettled batches. Safe for any thread. */
  public long spans() {
    return segments.spans();
  }

  /** Returns the bytes of unsettled batches. Safe for any thread. */
  long batchBytes() {
    return segments.batchBytes();
  }

  /** Returns the bytes on disk. Safe for any thread. */
  public long bytes() {
    return bytes;
  }

  /** Returns false after a failed write, until a retry succeeds. Safe for any thread. */
  boolean isWritable() {
    return failure.isEmpty();
  }

  /** Returns the age of the oldest unsettled batch; 0 without such a batch. Safe for any thread. */
  double oldestSeconds() {
    long now = nowMillis();
    return Math.max(0, now - segments.oldestMillis(now)) / 1e3;
  }

  /** Records settled batches and closes the files. Call after all other use has ended. */
  @Override
  public void close() throws IOException {
    if (closed) {
      return;
    }
    closed = true;
    flusherThread.close();
    settled.delete();
    settled.record();
    flusher.doWork();
    tryToReplaceUnsound();
    for (Segment segment : segments.all()) {
      segment.close();
    }
    directoryLock.close();
  }
}
