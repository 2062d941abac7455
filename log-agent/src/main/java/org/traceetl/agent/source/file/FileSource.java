package org.traceetl.agent.source.file;

import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.traceetl.agent.config.FilesConfig;
import org.traceetl.agent.flow.Checkpoint;
import org.traceetl.agent.flow.Intake;
import org.traceetl.common.Clocks;
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
  static final String NAME = "file";

  /** Pause in lengths of an idle look, so that idle looks take at most 1/50 of a processor. */
  private static final long PAUSE_PER_IDLE_LOOK = 49;

  /** Longest pause, also if the disk is slow. */
  private static final long MOST_PAUSE_NANOS = TimeUnit.SECONDS.toNanos(2);

  private final long pollNanos;
  private final LongSupplier nanoClock;
  // Actions after outcomes; at most as many as payloads in the pipeline.
  private final Queue<Runnable> outcomes = new ConcurrentLinkedQueue<>();
  private final SteppedThread thread;
  private volatile List<String> globs;
  // Guarded by this.
  private boolean started;

  // Owned by the thread.
  private final FilePositions positions;
  private final LineReader lines;
  private final OpenFiles files;
  private final RestReader rests;
  private boolean searched;
  private long nextLookNanos;

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
      FileMetrics metrics,
      Clocks clocks)
      throws IOException {
    nanoClock = clocks.nanoClock();
    pollNanos = TimeUnit.MILLISECONDS.toNanos(config.pollIntervalMillis());
    globs = config.paths();
    thread = new SteppedThread(clocks, "files", this, new LogThrottle(nanoClock));
    nextLookNanos = nanoClock.getAsLong();
    Map<String, TailedFile> byKey = new LinkedHashMap<>();
    positions = new FilePositions(notes, byKey.keySet(), intake, this::later);
    lines = new LineReader(config, intake, metrics, chunk -> later(() -> settle(chunk)), nanoClock);
    files = new OpenFiles(byKey, positions, lines, metrics, nanoClock);
    rests = new RestReader(lines, positions, nextLookNanos);
  }

  /** Starts to follow files. A source without files starts no thread. */
  public synchronized void start() {
    started = true;
    if (!globs.isEmpty() || !positions.all().isEmpty()) {
      thread.start();
    }
  }

  /** Follows these globs from now on; other files are read to their end and closed. */
  public synchronized void follow(List<String> others) {
    globs = List.copyOf(others);
    if (started) {
      thread.start();
    }
  }

  /** Stops reading; payloads in progress still count. */
  public void stopAccepting() {
    lines.stop();
  }

  /** Ends the thread. */
  @Override
  public void close() {
    lines.stop();
    thread.close();
  }

  /** Looks for new lines if it is time to, and runs one outcome if one is queued. */
  @Override
  public long doWork() {
    if (!searched) {
      searched = true;
      new RotatedFiles(positions, files, rests).find();
    }
    long now = nanoClock.getAsLong();
    if (now - nextLookNanos >= 0) {
      long pauseNanos = look(now);
      // Measured from the end of the look, so that outcomes run however long a look takes.
      nextLookNanos = nanoClock.getAsLong() + Math.max(pollNanos, pauseNanos);
    }
    Runnable outcome = outcomes.poll();
    if (outcome != null) {
      outcome.run();
    }
    return outcome == null ? Math.max(0, nextLookNanos - nanoClock.getAsLong()) : 0;
  }

  /** Finds the files and reads new lines in them; returns the pause that idle files require. */
  private long look(long nowNanos) {
    lines.retryRefused();
    PathGlob found = PathGlob.find(globs);
    if (lines.isReading()) {
      // Open new files before reading the remainders; later they may have left their path.
      files.follow(found);
    }
    boolean busy = rests.read(nowNanos) || files.read(found, nowNanos);
    files.measure();
    return busy
        ? 0
        : Math.min(PAUSE_PER_IDLE_LOOK * (nanoClock.getAsLong() - nowNanos), MOST_PAUSE_NANOS);
  }

  private void settle(LineChunk chunk) {
    TailedFile file = chunk.file;
    if (!file.settled(chunk)) {
      return;
    }
    long now = nanoClock.getAsLong();
    if (chunk.isDone()) {
      positions.deleteReplaced(file);
    } else {
      file.pausedUntilNanos = now + LineReader.RETRY_NANOS;
    }
    boolean _ = lines.read(file, now);
  }

  /** Queues an action for the thread. Called on the pipeline's thread. */
  private void later(Runnable outcome) {
    outcomes.add(outcome);
    thread.wake();
  }

  @Override
  public void onEnd() {
    files.close();
    rests.close();
  }
}
