package org.traceetl.agent.source.file;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.traceetl.agent.source.file.TailedFile.Seen;
import org.traceetl.common.LogThrottle;

/** The files that are followed. Opens, reads and closes them. Owned by the source's thread. */
final class OpenFiles {
  private static final Logger log = LoggerFactory.getLogger(OpenFiles.class);

  /** Most open files; further files wait until others are closed. */
  private static final int MOST = FilePositions.MOST;

  /** How long a writer may keep a file open after the file has left its path. */
  private static final long GONE_GRACE_NANOS = TimeUnit.SECONDS.toNanos(5);

  private final Map<String, TailedFile> files;
  private final FilePositions positions;
  private final LineReader lines;
  private final FileMetrics metrics;
  private final LogThrottle failureLog;

  /**
   * @param files open files by key, in the order of opening; empty
   */
  OpenFiles(
      Map<String, TailedFile> files,
      FilePositions positions,
      LineReader lines,
      FileMetrics metrics,
      LongSupplier nanoClock) {
    this.files = files;
    this.positions = positions;
    this.lines = lines;
    this.metrics = metrics;
    this.failureLog = new LogThrottle(nanoClock);
  }

  /** Opens the found files that are not open yet. */
  void follow(PathGlob found) {
    int unfollowed = 0;
    for (Map.Entry<Path, Seen> entry : found.files().entrySet()) {
      String key = entry.getValue().key();
      if (entry.getKey().toString().endsWith(CompressedRests.SUFFIX)) {
        // Compressed files contain no readable lines; their remainders are found at the start.
        continue;
      }
      if (!files.containsKey(key) && !follow(entry.getKey(), key)) {
        unfollowed++;
      }
    }
    metrics.unfollowed = unfollowed;
  }

  /** Returns false if the file cannot be followed now. */
  private boolean follow(Path path, String key) {
    String problem = MOST + " files are already open";
    if (files.size() < MOST) {
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

  /** Opens a file and follows it from its position; returns false if it has none. */
  boolean resume(Path path, String key) throws IOException {
    return open(path, key, false);
  }

  /**
   * @param evenIfNew whether to follow a file without a position, from its start
   * @return true if the file is followed
   */
  private boolean open(Path path, String key, boolean evenIfNew) throws IOException {
    TailedFile file = TailedFile.open(path, key);
    boolean follow = false;
    try {
      boolean resumed = positions.resume(file);
      follow = resumed || evenIfNew;
      if (follow) {
        files.put(key, file);
        log.info("Reading {} from byte {}{}", path, file.position(), resumed ? "" : " (new)");
      }
    } finally {
      if (!follow) {
        file.close();
      }
    }
    return follow;
  }

  /**
   * Reads new lines of the files that have changed.
   *
   * @param found the files at their paths
   * @return false if no file has changed since the last look
   */
  boolean read(PathGlob found, long nowNanos) {
    Map<String, Seen> atTheirPath = new HashMap<>();
    found.files().values().forEach(seen -> atTheirPath.put(seen.key(), seen));
    boolean changed = false;
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
      changed = true;
      if (lines.read(file, nowNanos)) {
        file.noteRead(seen);
      } else {
        file.readAt = null;
      }
    }
    leaveFinished(nowNanos);
    return changed;
  }

  private boolean isHidden(TailedFile file, PathGlob found) {
    boolean hidden = found.hides(file.path);
    if (hidden && failureLog.permits()) {
      log.warn("Cannot list the directory of {}; the agent retries", file.path);
    }
    return hidden;
  }

  /** Closes files that have left their path and are read to the end. */
  private void leaveFinished(long nowNanos) {
    Iterator<TailedFile> all = files.values().iterator();
    while (all.hasNext()) {
      TailedFile file = all.next();
      if (file.goneSinceNanos != Long.MIN_VALUE
          && nowNanos - file.goneSinceNanos > GONE_GRACE_NANOS
          && file.isAtEnd()) {
        leave(file);
        all.remove();
      }
    }
  }

  private void leave(TailedFile file) {
    // A file that is no longer followed may still be written.
    if (!file.isAtItsPath()) {
      lines.rejectIncomplete(file);
    }
    positions.add(file.place());
    file.close();
    log.info("Finished {} at byte {}", file.path, file.position());
  }

  /** Updates the gauges. */
  void measure() {
    long unread = 0;
    for (TailedFile file : files.values()) {
      try {
        unread += file.readAt == null ? file.unreadBytes() : file.readAt.size() - file.position();
      } catch (IOException e) {
        // Logged when the file is read.
      }
    }
    metrics.unreadBytes = unread;
    metrics.open = files.size();
  }

  void close() {
    files.values().forEach(TailedFile::close);
  }
}
