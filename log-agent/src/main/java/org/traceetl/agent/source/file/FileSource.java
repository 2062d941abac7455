package org.traceetl.agent.source.file;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.traceetl.agent.config.FilesConfig;
import org.traceetl.agent.flow.Intake;
import org.traceetl.agent.flow.Intake.Admission;
import org.traceetl.agent.source.file.Positions.Saved;
import org.traceetl.agent.state.StateDirectory;
import org.traceetl.agent.telemetry.AgentMetrics;
import org.traceetl.agent.telemetry.LogThrottle;

/**
 * Follows trace logs by glob. One thread owns the files; outcomes reach it through a queue. A line
 * is a span as soon as its end is written. A file's place moves, and is kept on disk, only when the
 * broker has confirmed the spans before it.
 *
 * <p>A file that was renamed or deleted is read to its end first. A file whose start is another
 * than what was read, or that is shorter than its place, was truncated and starts anew.
 */
public final class FileSource implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(FileSource.class);
  private static final String NAME = "file";

  /** Most bytes of lines in a chunk, unless one line is longer. */
  private static final int CHUNK_BYTES = 1024 * 1024;

  /** How long a writer may still hold a file that has left its path. */
  private static final long GONE_GRACE_NANOS = TimeUnit.SECONDS.toNanos(5);

  private static final long RETRY_NANOS = TimeUnit.SECONDS.toNanos(1);
  private static final long SAVE_INTERVAL_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

  /** Longest wait for outcomes; a stop is seen after it, and places are saved. */
  private static final long WAIT_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

  private final FilesConfig config;
  private final Intake intake;
  private final AgentMetrics metrics;
  private final Positions positions;
  private final LogThrottle rejectedLog = new LogThrottle(10, TimeUnit.SECONDS, System::nanoTime);
  private final LogThrottle failureLog = new LogThrottle(10, TimeUnit.SECONDS, System::nanoTime);
  private final LinkedBlockingQueue<Chunk> outcomes = new LinkedBlockingQueue<>();
  private final Thread thread = Thread.ofPlatform().name("files").unstarted(this::run);

  // Used on the pipeline's thread.
  private final TraceLineDecoder decoder = new TraceLineDecoder();

  // Owned by the thread, once it has started.
  private final Map<String, TailedFile> files = new LinkedHashMap<>();
  private final Map<String, Saved> saved = new HashMap<>();
  private final ByteBuffer buffer;
  private boolean waiting;
  private boolean unsaved;
  private long savedNanos;

  private final AtomicLong truncations = new AtomicLong();
  private volatile boolean reading = true;
  private volatile boolean stopped;
  private volatile int openFiles;
  private volatile long unreadBytes;

  public FileSource(FilesConfig config, Intake intake, StateDirectory state, AgentMetrics metrics) {
    this.config = config;
    this.intake = intake;
    this.metrics = metrics;
    this.positions = new Positions(state);
    // One byte more than the longest line, for its end.
    this.buffer = ByteBuffer.allocate(Math.max(CHUNK_BYTES, config.maxLineBytes() + 1));
    metrics.gauge("open_files", "Trace logs that are being followed.", () -> openFiles);
    metrics.gauge(
        "unread_file_bytes",
        "Bytes of the trace logs that are not confirmed by the broker yet.",
        () -> unreadBytes);
    metrics.counter(
        "file_truncations",
        "Times that a trace log was truncated: what was not read of it by then is lost.",
        "",
        Map.of("", truncations::get));
  }

  /**
   * Reads where the last run stopped, finds files that were rotated since, and starts to follow.
   *
   * @throws IOException when the saved places cannot be read
   */
  public void start() throws IOException {
    for (Saved place : positions.load()) {
      saved.put(place.key(), place);
    }
    List.copyOf(saved.values()).forEach(this::openIfRotated);
    thread.start();
  }

  /** Reads nothing more; what is under way still counts when it is confirmed. */
  public void stopAccepting() {
    reading = false;
  }

  /** Ends the thread and keeps the places. Call it when the outcomes are known. */
  @Override
  public void close() {
    reading = false;
    stopped = true;
    try {
      thread.join();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  TraceLineDecoder decoder() {
    return decoder;
  }

  int maxLineBytes() {
    return config.maxLineBytes();
  }

  /** Says now and then where a bad line is; not what is in it, which may be anyone's data. */
  void tellOfRejected(TailedFile file, long offset, String reason) {
    if (rejectedLog.permits()) {
      log.warn("{} has a line at byte {} that is no span: {}", file.path, offset, reason);
    }
  }

  /** A file that an earlier run had not finished and that has another name by now. */
  private void openIfRotated(Saved place) {
    Path path = place.path().toAbsolutePath();
    List<Path> neighbours = Glob.children(path.getParent(), "*");
    boolean found = false;
    for (Path candidate : neighbours) {
      try {
        if (TailedFile.keyOf(candidate).equals(place.key())) {
          found = true;
          if (!candidate.equals(path)) {
            open(candidate);
          }
        }
      } catch (IOException e) {
        log.debug("{} is passed over: {}", candidate, e.toString());
      }
    }
    if (!found && !neighbours.isEmpty()) {
      // It was deleted. While a whole directory is missing its places are kept.
      saved.remove(place.key());
    }
  }

  private void run() {
    long pollNanos = TimeUnit.MILLISECONDS.toNanos(config.pollIntervalMillis());
    long nextLook = System.nanoTime();
    while (!stopped) {
      try {
        long now = System.nanoTime();
        if (now - nextLook >= 0) {
          nextLook = now + pollNanos;
          look(now);
        }
        long untilLook = nextLook - System.nanoTime();
        Chunk settled = outcomes.poll(Math.clamp(untilLook, 0, WAIT_NANOS), TimeUnit.NANOSECONDS);
        if (settled != null) {
          settle(settled);
        }
        saveIfDue(System.nanoTime());
      } catch (InterruptedException e) {
        // Nobody else has this thread; close() is the way to end it.
        log.warn("The thread of the file source was interrupted and goes on");
      } catch (RuntimeException e) {
        if (failureLog.permits()) {
          log.error("The file source goes on after an unexpected failure", e);
        }
      }
    }
    outcomes.forEach(chunk -> unsaved |= chunk.file.settled(chunk));
    save();
    files.values().forEach(FileSource::close);
  }

  /** Finds the files and reads what is new in them. */
  private void look(long nowNanos) {
    waiting = false;
    Set<String> atTheirPath = new HashSet<>();
    for (Path path : Glob.find(config.paths())) {
      try {
        String key = TailedFile.keyOf(path);
        atTheirPath.add(key);
        if (reading && !files.containsKey(key)) {
          open(path);
        }
      } catch (IOException e) {
        if (failureLog.permits()) {
          log.warn("{} cannot be read now: {}", path, e.toString());
        }
      }
    }
    // From another one each time, so that no file takes all the room there is in the pipeline.
    List<TailedFile> inTurn = new ArrayList<>(files.values());
    Collections.rotate(inTurn, (int) (nowNanos >>> 8 & 0xffff));
    for (TailedFile file : inTurn) {
      if (atTheirPath.contains(file.key)) {
        file.goneSinceNanos = Long.MIN_VALUE;
      } else if (file.goneSinceNanos == Long.MIN_VALUE) {
        file.goneSinceNanos = nowNanos;
      }
      read(file, nowNanos);
    }
    leaveFinished(nowNanos);
    measure();
  }

  private void open(Path path) throws IOException {
    TailedFile file = TailedFile.open(path);
    Saved place = saved.remove(file.key);
    boolean resumed = place != null && file.resume(place.position(), place.fingerprint());
    files.put(file.key, file);
    log.info("Following {} from byte {}{}", path, file.position(), resumed ? "" : " (new)");
  }

  /** Offers the complete lines that are new, unless some are under way. */
  private void read(TailedFile file, long nowNanos) {
    if (!reading || waiting || nowNanos - file.pausedUntilNanos < 0) {
      return;
    }
    try {
      if (file.startOverIfTruncated()) {
        truncations.incrementAndGet();
        log.info("{} was truncated: it is read from its start", file.path);
        unsaved = true;
      }
      while (reading && !waiting && !file.isUnderWay()) {
        int length = file.read(buffer);
        if (length == 0) {
          return;
        }
        offerLines(file, length);
      }
    } catch (IOException e) {
      file.pausedUntilNanos = nowNanos + RETRY_NANOS;
      if (failureLog.permits()) {
        log.warn("{} cannot be read now: {}", file.path, e.toString());
      }
    }
  }

  private void offerLines(TailedFile file, int length) {
    byte[] bytes = buffer.array();
    if (file.isSkippingLine()) {
      int lineEnd = firstLineEnd(bytes, length);
      file.skip(lineEnd < 0 ? length : lineEnd + 1);
      file.skippingLine(lineEnd < 0);
      return;
    }
    int end = length;
    while (end > 0 && bytes[end - 1] != '\n') {
      end--;
    }
    if (end > 0) {
      offer(file, Arrays.copyOf(bytes, end));
    } else if (length > config.maxLineBytes()) {
      reject(file, Chunk.LINE_TOO_LONG);
      file.skip(length);
      file.skippingLine(true);
    }
  }

  private static int firstLineEnd(byte[] bytes, int length) {
    for (int i = 0; i < length; i++) {
      if (bytes[i] == '\n') {
        return i;
      }
    }
    return -1;
  }

  private void offer(TailedFile file, byte[] lines) {
    long start = file.position();
    Chunk chunk = new Chunk(file, start, start + lines.length, this, outcomes);
    if (intake.offer(NAME, lines, chunk, chunk) == Admission.ACCEPTED) {
      file.sent(chunk);
    } else {
      // There is no room for this file's lines, so there is none for the others'.
      waiting = true;
      file.readAgain();
    }
  }

  /** Counts a line that never gets to the pipeline. */
  private void reject(TailedFile file, String reason) {
    metrics.spansReceived.labels(NAME).inc();
    metrics.spansRejected.labels(NAME, reason).inc();
    tellOfRejected(file, file.position(), reason);
    unsaved = true;
  }

  private void settle(Chunk chunk) {
    TailedFile file = chunk.file;
    if (!file.settled(chunk)) {
      return;
    }
    if (chunk.isDone()) {
      unsaved = true;
    } else {
      file.pausedUntilNanos = System.nanoTime() + RETRY_NANOS;
    }
    read(file, System.nanoTime());
  }

  /** Lets go of files that are gone from their path and read to the end. */
  private void leaveFinished(long nowNanos) {
    Iterator<TailedFile> all = files.values().iterator();
    while (all.hasNext()) {
      TailedFile file = all.next();
      if (file.goneSinceNanos != Long.MIN_VALUE
          && nowNanos - file.goneSinceNanos > GONE_GRACE_NANOS
          && isAtEnd(file)) {
        leave(file);
        all.remove();
        unsaved = true;
      }
    }
  }

  private static boolean isAtEnd(TailedFile file) {
    try {
      return file.isAtEnd();
    } catch (IOException e) {
      // It can be neither read nor measured, and has no path to be found by again.
      return true;
    }
  }

  private void leave(TailedFile file) {
    try {
      if (file.unreadBytes() > 0 && !file.isSkippingLine()) {
        reject(file, "line_incomplete");
      }
    } catch (IOException e) {
      log.warn("{} cannot be measured: {}", file.path, e.toString());
    }
    close(file);
    log.info("Finished {} at byte {}", file.path, file.position());
  }

  private static void close(TailedFile file) {
    try {
      file.close();
    } catch (IOException e) {
      log.warn("{} does not close: {}", file.path, e.toString());
    }
  }

  private void measure() {
    long unread = 0;
    for (TailedFile file : files.values()) {
      try {
        unread += file.unreadBytes();
      } catch (IOException e) {
        // Told when it is read.
      }
    }
    unreadBytes = unread;
    openFiles = files.size();
  }

  private void saveIfDue(long nowNanos) {
    if (unsaved && nowNanos - savedNanos > SAVE_INTERVAL_NANOS) {
      save();
      savedNanos = nowNanos;
    }
  }

  private void save() {
    if (!unsaved) {
      return;
    }
    try {
      positions.save(files.values(), saved.values());
      unsaved = false;
    } catch (IOException e) {
      if (failureLog.permits()) {
        log.error("The places in files cannot be kept: {}", e.toString());
      }
    }
  }
}
