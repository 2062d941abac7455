package org.traceetl.agent.source.file;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.traceetl.agent.config.FilesConfig;
import org.traceetl.agent.flow.Checkpoint;
import org.traceetl.agent.flow.Completion;
import org.traceetl.agent.flow.Intake;
import org.traceetl.agent.flow.Intake.Admission;
import org.traceetl.agent.source.file.CompressedRests.Rest;
import org.traceetl.agent.source.file.TailedFile.Seen;
import org.traceetl.agent.telemetry.AgentMetrics;
import org.traceetl.common.LogThrottle;
import org.traceetl.common.SteppedTask;
import org.traceetl.common.SteppedThread;

/**
 * Follows trace logs that match globs. One thread owns the files and receives outcomes through a
 * queue. A line is read as soon as its line end is written. A file's position travels with its
 * lines, so both reach the spool together.
 *
 * <p>A renamed or deleted file is first read to its end. If a file's start has changed or the file
 * is shorter than its position, it was truncated and is read from its start. If a file was
 * compressed while the agent was down, its first bytes identify the copy, whose unread remainder is
 * read before newer lines.
 */
public final class FileSource implements SteppedTask, AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(FileSource.class);
  private static final String NAME = "file";

  /** Suffix of the key of a compressed file's remainder; another file may have the plain key. */
  private static final String REST = "#rest";

  /** Most bytes of lines in a chunk, unless a single line is longer. */
  private static final int CHUNK_BYTES = 1024 * 1024;

  /** Most open files; further files wait until others are closed. */
  private static final int MOST_OPEN = FilePositions.MOST;

  /** How long a writer may keep a file open after the file has left its path. */
  private static final long GONE_GRACE_NANOS = TimeUnit.SECONDS.toNanos(5);

  private static final long RETRY_NANOS = TimeUnit.SECONDS.toNanos(1);

  /** Attempts to open a compressed file's remainder, a second apart, until the next start. */
  private static final int MOST_ATTEMPTS = 10;

  /** Pause in lengths of an idle look, so that idle looks take at most 1/50 of a processor. */
  private static final long PAUSE_PER_IDLE_LOOK = 49;

  /** Longest pause, also if the disk is slow. */
  private static final long MOST_PAUSE_NANOS = TimeUnit.SECONDS.toNanos(2);

  private final FilesConfig config;
  private final Intake intake;
  private final LongSupplier nanoClock;
  private final LogThrottle rejectedLog;
  private final LogThrottle failureLog;
  // Actions after outcomes; at most as many as payloads in the pipeline.
  private final Queue<Runnable> outcomes = new ConcurrentLinkedQueue<>();
  private final SteppedThread thread;

  // Used on the pipeline's thread.
  private final TraceLineDecoder decoder = new TraceLineDecoder();

  // Owned by the thread after its start.
  private final Map<String, TailedFile> files = new LinkedHashMap<>();
  private final FilePositions places = new FilePositions();
  private final Deque<Rest> rests = new ArrayDeque<>();
  private TailedFile rest;
  private FilePosition restPlace;
  private ByteBuffer buffer;
  private boolean waiting;
  private long restPausedUntilNanos;
  private long pauseNanos;
  private long nextLookNanos;

  private volatile boolean reading = true;
  private volatile List<String> globs;
  private final AtomicLong truncations = new AtomicLong();
  private volatile int openFiles;
  private volatile int unfollowedFiles;
  private volatile long unreadBytes;

  /**
   * Creates a source that does not read yet.
   *
   * @param notes positions of earlier runs, the most recently changed last
   * @throws IOException if a note cannot be read
   */
  public FileSource(
      FilesConfig config,
      Intake intake,
      List<Checkpoint.Position> notes,
      AgentMetrics metrics,
      LongSupplier nanoClock)
      throws IOException {
    this.config = config;
    this.intake = intake;
    this.nanoClock = nanoClock;
    this.rejectedLog = new LogThrottle(nanoClock);
    this.failureLog = new LogThrottle(nanoClock);
    this.thread = new SteppedThread("files", this, new LogThrottle(nanoClock));
    this.nextLookNanos = nanoClock.getAsLong();
    this.restPausedUntilNanos = nextLookNanos;
    for (Checkpoint.Position note : notes) {
      places.add(FilePosition.of(note));
    }
    this.globs = config.paths();
    metrics.gauge("open_files", "Trace logs that the agent reads.", () -> openFiles);
    metrics.gauge(
        "unfollowed_files",
        "Trace logs that the agent found but does not read: they cannot be opened, or too many"
            + " are open.",
        () -> unfollowedFiles);
    metrics.gauge(
        "unread_file_bytes",
        "Bytes of trace logs that are not yet in the spool.",
        () -> unreadBytes);
    metrics.counter(
        "file_truncations",
        "Truncations of trace logs; lines that were not read before the truncation are lost.",
        "",
        Map.of("", truncations::get));
  }

  /** Finds files that were rotated since the last run, then starts to follow files. */
  public void start() {
    // An agent without files starts no thread.
    boolean needed = !globs.isEmpty() || !places.all().isEmpty();
    Map<Path, PathGlob> directories = new HashMap<>();
    Map<FilePosition, Map<Path, Seen>> neighbours = new LinkedHashMap<>();
    for (FilePosition place : places.all()) {
      neighbours.put(
          place, directories.computeIfAbsent(place.path().getParent(), PathGlob::in).files());
    }
    neighbours.keySet().removeAll(findRests(neighbours));
    neighbours.forEach(this::findAgain);
    if (needed) {
      thread.start();
    }
  }

  /** Follows these globs from now on; other files are read to their end and closed. */
  public void follow(List<String> others) {
    globs = List.copyOf(others);
    thread.start();
  }

  /** Stops reading; payloads in progress still count. */
  public void stopAccepting() {
    reading = false;
  }

  /** Ends the thread. */
  @Override
  public void close() {
    reading = false;
    thread.close();
  }

  TraceLineDecoder decoder() {
    return decoder;
  }

  int maxLineBytes() {
    return config.maxLineBytes();
  }

  /** Logs the beginning of a rejected line from time to time. */
  void tellOfRejected(TailedFile file, long offset, String reason, byte[] bytes, int from, int to) {
    if (rejectedLog.permits()) {
      log.warn(
          "Skipped a line of {} at byte {} that is not a span: {}: {}",
          file.path,
          offset,
          reason,
          LineSample.of(bytes, from, to));
    }
  }

  /**
   * Finds compressed files with an unread remainder, and forgets their obsolete positions.
   *
   * @param neighbours the positions, with the files in their directories
   * @return the positions that need no further search
   */
  private Set<FilePosition> findRests(Map<FilePosition, Map<Path, Seen>> neighbours) {
    CompressedRests compressed = new CompressedRests();
    Set<FilePosition> there = new HashSet<>();
    neighbours.forEach((place, files) -> {
      if (isThere(place, files)) {
        there.add(place);
      } else {
        compressed.add(place, files.keySet());
      }
    });
    // A file may exist next to its compressed copy, and have an older position as well.
    List<Path> paths = compressed.paths();
    for (FilePosition place : there) {
      compressed.add(
          place,
          paths.stream()
              .filter(path -> path.getParent().equals(place.path().getParent()))
              .toList());
    }
    Set<FilePosition> done = new HashSet<>();
    for (Path path : paths) {
      List<FilePosition> useless = new ArrayList<>(compressed.places(path));
      FilePosition furthest = useless.getLast();
      if (there.contains(furthest)) {
        useless.removeLast();
      } else if (CompressedRests.isLonger(path, furthest.position())) {
        rests.add(new Rest(furthest, path, 0));
        done.add(useless.removeLast());
      }
      done.addAll(useless);
      useless.forEach(places::forget);
      forgetInOrder(useless);
    }
    return done;
  }

  /**
   * Opens a file that an earlier run had not finished and that was renamed; forgets the position of
   * a deleted file.
   *
   * @param neighbours the files in its directory
   */
  private void findAgain(FilePosition place, Map<Path, Seen> neighbours) {
    // Positions are kept while the whole directory is missing.
    boolean found = neighbours.isEmpty() || neighbours.containsKey(place.path());
    for (Map.Entry<Path, Seen> neighbour : neighbours.entrySet()) {
      Path path = neighbour.getKey();
      if (neighbour.getValue().key().equals(place.key()) && !path.equals(place.path())) {
        try {
          found |= Files.size(path) == place.position() || open(path, place.key(), false);
        } catch (IOException e) {
          found = true;
          log.warn("{} cannot be read now: {}", path, e.toString());
        }
      }
    }
    if (!found) {
      places.forget(place);
      boolean _ = forget(place);
    }
  }

  /** Returns whether the position's file still exists, under its key or its path. */
  private static boolean isThere(FilePosition place, Map<Path, Seen> neighbours) {
    for (Map.Entry<Path, Seen> neighbour : neighbours.entrySet()) {
      Path path = neighbour.getKey();
      String key = neighbour.getValue().key();
      if (key.equals(place.key()) || path.equals(place.path())) {
        try (TailedFile file = TailedFile.open(path, key)) {
          if (file.begins(place)) {
            return true;
          }
        } catch (IOException e) {
          log.warn("{} cannot be read now: {}", path, e.toString());
          return true;
        }
      }
    }
    return false;
  }

  /** Reads the remainders of compressed files one by one; returns true while one is unfinished. */
  private boolean catchUp(long nowNanos) {
    while (rest != null || !rests.isEmpty()) {
      if (!reading) {
        return true;
      }
      if (rest == null) {
        if (nowNanos - restPausedUntilNanos < 0) {
          return true;
        }
        openRest(rests.remove(), nowNanos);
      } else {
        boolean _ = read(rest, nowNanos);
        if (!isAtEnd(rest)) {
          return true;
        }
        finishRest();
      }
    }
    return false;
  }

  private void openRest(Rest found, long nowNanos) {
    FilePosition place = found.place();
    try {
      String key = place.key().endsWith(REST) ? place.key() : place.key() + REST;
      rest = found.open(key, buffer.capacity());
      restPlace = place;
      log.info(
          "Reading the rest of {} from byte {} of {}",
          place.path(),
          place.position(),
          found.path());
    } catch (IOException e) {
      boolean last = found.attempts() + 1 == MOST_ATTEMPTS;
      log.warn(
          "Cannot read {}{}, which holds the rest of {}: {}",
          found.path(),
          last ? " until the agent restarts" : " now",
          place.path(),
          e.toString());
      if (!last) {
        // The file may have been rotated again.
        rests.add(found.again(PathGlob.in(place.path().getParent()).files().keySet()));
        restPausedUntilNanos = nowNanos + RETRY_NANOS;
      }
    }
  }

  private void finishRest() {
    TailedFile finished = rest;
    rest = null;
    rejectIncomplete(finished);
    places.forget(restPlace);
    // While the remainder's position is stored, the original file's position has no meaning.
    forgetInOrder(
        restPlace.key().equals(finished.key)
            ? List.of(restPlace)
            : List.of(restPlace, finished.place()));
    close(finished);
    log.info("Finished the rest of {} at byte {}", finished.path, finished.position());
  }

  /** Looks for new lines if it is time to, and runs one outcome if one is queued. */
  @Override
  public long doWork() {
    if (buffer == null) {
      // One byte more than the longest line, for its line end.
      buffer = ByteBuffer.allocate(Math.max(CHUNK_BYTES, config.maxLineBytes() + 1));
    }
    long now = nanoClock.getAsLong();
    if (now - nextLookNanos >= 0) {
      look(now);
      // Measured from the end of the look, so that outcomes run however long a look takes.
      nextLookNanos =
          nanoClock.getAsLong()
              + Math.max(TimeUnit.MILLISECONDS.toNanos(config.pollIntervalMillis()), pauseNanos);
    }
    Runnable outcome = outcomes.poll();
    if (outcome != null) {
      outcome.run();
    }
    return outcome == null ? Math.max(0, nextLookNanos - nanoClock.getAsLong()) : 0;
  }

  @Override
  public void onEnd() {
    files.values().forEach(FileSource::close);
    if (rest != null) {
      close(rest);
    }
  }

  /** Queues an action after an outcome. Called on the pipeline's thread. */
  private void later(Runnable outcome) {
    outcomes.add(outcome);
    thread.wake();
  }

  /** Finds the files and reads new lines in them. */
  private void look(long nowNanos) {
    waiting = false;
    pauseNanos = 0;
    long start = nanoClock.getAsLong();
    PathGlob found = PathGlob.find(globs);
    if (reading) {
      // Open new files before reading the remainders; later they may have left their path.
      followNew(found.files());
    }
    if (catchUp(nowNanos)) {
      measure();
      return;
    }
    Map<String, Seen> atTheirPath = new HashMap<>();
    found.files().values().forEach(seen -> atTheirPath.put(seen.key(), seen));
    boolean idle = true;
    // Start with another file each time, so that no file takes all the room in the pipeline.
    List<TailedFile> inTurn = new ArrayList<>(files.values());
    Collections.rotate(inTurn, (int) (nowNanos >>> 8 & 0xffff));
    for (TailedFile file : inTurn) {
      Seen seen = atTheirPath.get(file.key);
      if (seen != null && seen.equals(file.readAt)) {
        continue;
      }
      if (seen != null || isHidden(file, found)) {
        file.goneSinceNanos = Long.MIN_VALUE;
      } else if (file.goneSinceNanos == Long.MIN_VALUE) {
        file.goneSinceNanos = nowNanos;
      }
      idle = false;
      if (read(file, nowNanos)) {
        file.noteRead(seen);
      } else {
        file.readAt = null;
      }
    }
    leaveFinished(nowNanos);
    measure();
    if (idle) {
      pauseNanos =
          Math.min(PAUSE_PER_IDLE_LOOK * (nanoClock.getAsLong() - start), MOST_PAUSE_NANOS);
    }
  }

  private boolean isHidden(TailedFile file, PathGlob found) {
    boolean hidden = found.hides(file.path);
    if (hidden && failureLog.permits()) {
      log.warn("Cannot list the directory of {}; the agent retries", file.path);
    }
    return hidden;
  }

  private void followNew(Map<Path, Seen> found) {
    int unfollowed = 0;
    for (Map.Entry<Path, Seen> entry : found.entrySet()) {
      String key = entry.getValue().key();
      if (entry.getKey().toString().endsWith(CompressedRests.SUFFIX)) {
        // Compressed files contain no readable lines; their remainders are found at the start.
        continue;
      }
      if (!files.containsKey(key) && !follow(entry.getKey(), key)) {
        unfollowed++;
      }
    }
    unfollowedFiles = unfollowed;
  }

  /** Returns false if the file cannot be followed now. */
  private boolean follow(Path path, String key) {
    String problem = MOST_OPEN + " files are already open";
    if (files.size() < MOST_OPEN) {
      try {
        return open(path, key, true);
      } catch (IOException e) {
        problem = e.toString();
      }
    }
    if (failureLog.permits()) {
      log.warn("Cannot follow {}: {}; the agent retries", path, problem);
    }
    return false;
  }

  /**
   * Opens a file and follows it from its position.
   *
   * @param evenIfNew whether to follow a file without a position, from its start
   * @return true if the file is followed
   */
  private boolean open(Path path, String key, boolean evenIfNew) throws IOException {
    TailedFile file = TailedFile.open(path, key);
    boolean follow = false;
    try {
      boolean resumed = places.resume(file);
      follow = resumed || evenIfNew;
      if (follow) {
        files.put(key, file);
        log.info("Reading {} from byte {}{}", path, file.position(), resumed ? "" : " (new)");
      }
    } finally {
      if (!follow) {
        close(file);
      }
    }
    return follow;
  }

  /**
   * Offers new complete lines, unless lines are in progress. Returns false if it could not read.
   */
  private boolean read(TailedFile file, long nowNanos) {
    if (!reading || waiting || nowNanos - file.pausedUntilNanos < 0) {
      return false;
    }
    try {
      if (file.startOverIfTruncated()) {
        truncations.incrementAndGet();
        log.info("{} was truncated; reading it from its start", file.path);
      }
      while (reading && !waiting && !file.isUnderWay()) {
        int length = file.read(buffer);
        if (length == 0) {
          return true;
        }
        offerLines(file, length);
      }
      return true;
    } catch (IOException e) {
      file.pausedUntilNanos = nowNanos + RETRY_NANOS;
      if (failureLog.permits()) {
        log.warn("{} cannot be read now: {}", file.path, e.toString());
      }
      return false;
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
      reject(file, LineChunk.LINE_TOO_LONG, bytes, length);
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
    LineChunk chunk =
        new LineChunk(
            file, start, start + lines.length, this, settled -> later(() -> settle(settled)));
    if (intake.offer(NAME, lines, chunk, chunk) == Admission.ACCEPTED) {
      file.sent(chunk);
    } else {
      // The pipeline is full; it would refuse other files as well.
      waiting = true;
      file.readAgain();
    }
  }

  /** Counts a line that is rejected before the pipeline. */
  private void reject(TailedFile file, String reason, byte[] bytes, int length) {
    intake.reject(NAME, reason);
    tellOfRejected(file, file.position(), reason, bytes, 0, length);
  }

  private void settle(LineChunk chunk) {
    TailedFile file = chunk.file;
    if (!file.settled(chunk)) {
      return;
    }
    if (chunk.isDone()) {
      forgetReplaced(file);
    } else {
      file.pausedUntilNanos = nanoClock.getAsLong() + RETRY_NANOS;
    }
    boolean _ = read(file, nanoClock.getAsLong());
  }

  /** Closes files that have left their path and are read to the end. */
  private void leaveFinished(long nowNanos) {
    Iterator<TailedFile> all = files.values().iterator();
    while (all.hasNext()) {
      TailedFile file = all.next();
      if (file.goneSinceNanos != Long.MIN_VALUE
          && nowNanos - file.goneSinceNanos > GONE_GRACE_NANOS
          && isAtEnd(file)) {
        leave(file);
        all.remove();
      }
    }
  }

  private static boolean isAtEnd(TailedFile file) {
    try {
      return file.isAtEnd();
    } catch (IOException e) {
      // The file can be neither read nor measured, and has no path to find it by.
      return true;
    }
  }

  /** Returns whether the file is at its path; an unfollowed file may still be written. */
  private static boolean isAtItsPath(TailedFile file) {
    try {
      return Seen.at(file.path).key().equals(file.key);
    } catch (IOException e) {
      return false;
    }
  }

  private void rejectIncomplete(TailedFile file) {
    try {
      if (file.unreadBytes() > 0 && !file.isSkippingLine()) {
        reject(file, "line_incomplete", new byte[0], 0);
      }
    } catch (IOException e) {
      log.warn("Cannot get the size of {}: {}", file.path, e.toString());
    }
  }

  private void leave(TailedFile file) {
    if (!isAtItsPath(file)) {
      rejectIncomplete(file);
    }
    places.add(file.place());
    FilePosition surplus = places.pollSurplus();
    // A deleted file's key is reused, possibly by a file that is being read.
    if (surplus != null && !files.containsKey(surplus.key())) {
      boolean _ = forget(surplus);
    }
    close(file);
    log.info("Finished {} at byte {}", file.path, file.position());
  }

  private static void close(TailedFile file) {
    try {
      file.close();
    } catch (IOException e) {
      log.warn("Cannot close {}: {}", file.path, e.toString());
    }
  }

  private void measure() {
    long unread = 0;
    for (TailedFile file : files.values()) {
      try {
        unread += file.readAt == null ? file.unreadBytes() : file.readAt.size() - file.position();
      } catch (IOException e) {
        // Logged when the file is read.
      }
    }
    unreadBytes = unread;
    openFiles = files.size();
  }

  /**
   * Deletes a position from the spool. If the pipeline has no room, the position stays, and the
   * next start finds that it is obsolete.
   *
   * @return false if there was no room
   */
  private boolean forget(FilePosition place) {
    return forget(place, () -> {});
  }

  /**
   * Deletes a position from the spool.
   *
   * @param then runs on the thread when the deletion is stored and survives a crash
   */
  private boolean forget(FilePosition place, Runnable then) {
    Completion forgotten = new Forgotten(place, () -> later(then));
    return intake.offer(NAME, new byte[0], (payload, length, sink) -> {}, forgotten)
        == Admission.ACCEPTED;
  }

  /**
   * Deletes positions one by one, each after the previous deletion is stored. Stops if the pipeline
   * has no room; the next start continues.
   */
  private void forgetInOrder(List<FilePosition> useless) {
    if (!useless.isEmpty() && !isOfAnother(useless.getFirst())) {
      List<FilePosition> others = useless.subList(1, useless.size());
      boolean _ = forget(useless.getFirst(), () -> forgetInOrder(others));
    }
  }

  /** Deletes the file's positions under its earlier keys. */
  private void forgetReplaced(TailedFile file) {
    file.replaced.removeIf(place -> isOfAnother(place) || forget(place));
  }

  /** Returns whether another file reuses the key, so that the stored position is that file's. */
  private boolean isOfAnother(FilePosition place) {
    return files.containsKey(place.key()) || places.contains(place.key());
  }

  /** A payload without spans that deletes a position. */
  private record Forgotten(FilePosition place, Runnable then) implements Completion {
    @Override
    public Checkpoint checkpoint() {
      return place.forgotten();
    }

    @Override
    public void confirmed(int accepted, int rejected, String reason) {
      then.run();
    }

    @Override
    public void malformed(String reason) {}

    @Override
    public void failed(String reason) {}
  }
}
