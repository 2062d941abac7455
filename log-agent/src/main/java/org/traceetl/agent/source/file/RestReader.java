package org.traceetl.agent.source.file;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.traceetl.agent.source.file.CompressedRests.Rest;

/** Reads the remainders of compressed files one by one. Owned by the source's thread. */
final class RestReader {
  private static final Logger log = LoggerFactory.getLogger(RestReader.class);

  /** Suffix of the key of a compressed file's remainder; another file may have the plain key. */
  private static final String SUFFIX = "#rest";

  /** Attempts to open a compressed file's remainder, a second apart, until the next start. */
  private static final int MOST_ATTEMPTS = 10;

  private final LineReader lines;
  private final FilePositions positions;
  private final Deque<Rest> rests = new ArrayDeque<>();
  private TailedFile current;
  private FilePosition currentPlace;
  private long pausedUntilNanos;

  RestReader(LineReader lines, FilePositions positions, long nowNanos) {
    this.lines = lines;
    this.positions = positions;
    this.pausedUntilNanos = nowNanos;
  }

  /** Adds a remainder to read. */
  void add(Rest rest) {
    rests.add(rest);
  }

  /** Reads what can be read now; returns true while a remainder is unfinished. */
  boolean read(long nowNanos) {
    while (current != null || !rests.isEmpty()) {
      if (!lines.isReading()) {
        return true;
      }
      if (current == null) {
        if (nowNanos - pausedUntilNanos < 0) {
          return true;
        }
        open(rests.remove(), nowNanos);
      } else {
        boolean _ = lines.read(current, nowNanos);
        if (!current.isAtEnd()) {
          return true;
        }
        finish();
      }
    }
    return false;
  }

  private void open(Rest found, long nowNanos) {
    FilePosition place = found.place();
    try {
      String key = place.key().endsWith(SUFFIX) ? place.key() : place.key() + SUFFIX;
      current = found.open(key, lines.bufferBytes());
      currentPlace = place;
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
        pausedUntilNanos = nowNanos + LineReader.RETRY_NANOS;
      }
    }
  }

  private void finish() {
    TailedFile finished = current;
    current = null;
    lines.rejectIncomplete(finished);
    positions.forget(currentPlace);
    // While the remainder's position is stored, the original file's position has no meaning.
    positions.delete(
        currentPlace.key().equals(finished.key)
            ? List.of(currentPlace)
            : List.of(currentPlace, finished.place()));
    finished.close();
    log.info("Finished the rest of {} at byte {}", finished.path, finished.position());
  }

  /** Closes the remainder that is being read. */
  void close() {
    if (current != null) {
      current.close();
    }
  }
}
