package org.traceetl.server.ozhera.delta;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.traceetl.server.expose.Lease;
import org.traceetl.server.journal.JournalLog;
import org.traceetl.server.journal.QueueImage;
import org.traceetl.server.ozhera.delta.series.Deltas;
import org.traceetl.server.ozhera.delta.series.LabelSets;
import org.traceetl.server.ozhera.delta.series.NumberedSeries;
import org.traceetl.server.window.QueueId;
import org.traceetl.server.window.SealedWindow;

/**
 * Sums of a queue's windows from take-over to release, and the position of each scraper in them. A
 * position is the number of windows that the scraper received since the take-over. All windows
 * between two positions form one sum, which scrapers share: memory grows with the number of
 * different positions, not with the windows that scrapers are behind. The newest window stays apart
 * for scrapers that begin.
 *
 * <p>Confined to the fold thread, except the final and volatile fields.
 */
final class QueueDeltas {
  /**
   * The sum of consecutive windows.
   *
   * @param to number of the last window
   * @param offset offset on the span topic after that window
   */
  private record Segment(long to, long offset, Deltas deltas) {}

  /** How far a scraper is. */
  private static final class Position {
    /** Windows that the scraper has received. */
    long at;

    /** Windows including those of the open answer; below {@link #at} without one. */
    long givenTo = -1;

    /** The newest window at the start: the scraper may have received it before it was forgotten. */
    long addedEnd;

    /** Windows of the previous owner, which come first. */
    Deltas backlog = Deltas.NONE;

    /** Earlier messages whose counts are lost to the scraper. */
    long missed;

    /** Whether the position that the broker stores is known. */
    boolean known;
  }

  private final QueueId queue;
  private final Lease lease;
  private final NumberedSeries series;

  /** Schema of the windows whose series match those of this queue. */
  private final long schema;

  /** Last sign of the previous owner, milliseconds since 1970. */
  private final long beganMillis;

  /** Ascending and adjacent. */
  private final List<Segment> segments = new ArrayList<>();

  private final Map<ScraperSession, Position> positions = new HashMap<>();

  /** Position before the first segment; the next field is its offset. */
  private long begin;

  private long beginOffset;

  /** Number of windows since the take-over. */
  private long end;

  private long endMillis;

  /** Answers whose last bytes may be written at the moment. */
  int committed;

  /** Completes when the next owner may begin; null until the release. */
  volatile CompletableFuture<Void> released;

  QueueDeltas(QueueId queue, Lease lease, LabelSets labels, QueueImage image) {
    this.queue = queue;
    this.lease = lease;
    series = new NumberedSeries(labels);
    series.replace(image);
    schema = image.schema();
    beginOffset = image.to();
    beganMillis = image.ownedUntilMillis();
    endMillis = beganMillis;
  }

  QueueId queue() {
    return queue;
  }

  /** Returns the schema: windows of another one have other dimensions or buckets. Thread-safe. */
  long schema() {
    return schema;
  }

  Lease lease() {
    return lease;
  }

  /** Adds the queue's next window. */
  void fold(SealedWindow window) {
    if (end == 0 && beginOffset == JournalLog.NONE) {
      beginOffset = window.from();
    }
    end++;
    endMillis = window.sealedMillis();
    segments.add(new Segment(end, window.to(), series.fold(window)));
    compact();
  }

  /** Returns the number of rows without a series of a known type. */
  long unknownRows() {
    return series.unknownRows();
  }

  /**
   * Releases the series.
   *
   * @param done completes when the next owner may begin
   */
  void release(CompletableFuture<Void> done) {
    series.release();
    released = done;
  }

  /** Returns whether the next owner may have begun. Thread-safe. */
  boolean left() {
    CompletableFuture<Void> done = released;
    return done != null && done.isDone();
  }

  /**
   * Adds a scraper. It begins with the newest window, unless that window is old or the broker has a
   * position of the scraper.
   *
   * @param sinceMillis windows sealed before are old; milliseconds since 1970
   */
  void add(ScraperSession scraper, long sinceMillis) {
    Position position = new Position();
    position.at = endMillis >= sinceMillis ? Math.max(begin, end - 1) : end;
    position.addedEnd = end;
    positions.put(scraper, position);
  }

  void remove(ScraperSession scraper) {
    positions.remove(scraper);
    compact();
  }

  boolean knows(ScraperSession scraper) {
    Position position = positions.get(scraper);
    return position != null && position.known;
  }

  /** Returns whether the scraper is known to have received all windows before {@link #offset}. */
  boolean isUpTo(ScraperSession scraper) {
    Position position = positions.get(scraper);
    return position != null && position.known && position.backlog.isNone() && position.missed == 0;
  }

  /** Returns the offset from which this process has all windows that the scraper needs. */
  long offset(ScraperSession scraper) {
    return offsetAt(positions.get(scraper).at);
  }

  /** Returns the approximate seal time of the window before that offset, since 1970. */
  long sealedMillis(ScraperSession scraper) {
    return positions.get(scraper).at == 0 ? beganMillis : endMillis;
  }

  private long offsetAt(long position) {
    if (position == begin) {
      return beginOffset;
    }
    for (Segment segment : segments) {
      if (segment.to == position) {
        return segment.offset;
      }
    }
    throw new IllegalStateException("no position " + position + " in queue " + queue);
  }

  /**
   * Sets the position that the broker stores.
   *
   * @param mark offset on the span topic up to which the scraper received windows
   * @param backlog windows before {@link #offset} that the scraper did not receive
   * @param missed earlier messages whose counts are lost to the scraper
   */
  void locate(ScraperSession scraper, long mark, Deltas backlog, long missed) {
    Position position = positions.get(scraper);
    if (position == null || position.known) {
      return;
    }
    position.known = true;
    position.backlog = backlog;
    position.missed = missed;
    for (Segment segment : segments) {
      // The scraper returned to the server that had delivered this segment.
      if (mark != JournalLog.NONE && segment.to > position.at && segment.offset == mark) {
        position.at = segment.to;
      }
    }
    compact();
  }

  /** Returns the windows that a scraper has not received. The part must be settled. */
  Answer.Part give(ScraperSession scraper) {
    Position position = positions.get(scraper);
    List<Deltas> deltas = new ArrayList<>();
    if (!position.backlog.isNone()) {
      deltas.add(position.backlog);
    }
    for (Segment segment : segments) {
      if (segment.to > position.at && !segment.deltas.isNone()) {
        deltas.add(segment.deltas);
      }
    }
    position.givenTo = end;
    return new Answer.Part(this, end, deltas);
  }

  /** Returns the newest window; empty before the first one. */
  Answer.Part newest() {
    List<Deltas> deltas = segments.isEmpty() ? List.of() : List.of(segments.getLast().deltas);
    return new Answer.Part(this, end, deltas);
  }

  /**
   * Ends a part of an answer.
   *
   * @return the new offset of the scraper, or {@link JournalLog#NONE} if it has not moved
   */
  long settle(ScraperSession scraper, Answer.Part part, boolean written) {
    Position position = positions.get(scraper);
    if (position == null) {
      return JournalLog.NONE;
    }
    position.givenTo = -1;
    boolean moved = written && (part.to() > position.at || !isUpTo(scraper));
    if (moved) {
      // Not earlier: until the position has moved, the next owner would count them again.
      scraper.missedMessages += position.missed;
      position.missed = 0;
      position.at = part.to();
      position.backlog = Deltas.NONE;
    }
    long offset = moved ? offsetAt(position.at) : JournalLog.NONE;
    compact();
    return offset;
  }

  /** Returns the series with undelivered counts, counted once in each stored sum. */
  long pendingSeries() {
    long series = 0;
    for (Segment segment : segments) {
      series += segment.deltas.rows();
    }
    for (Position position : positions.values()) {
      series += position.backlog.rows();
    }
    return series;
  }

  private void compact() {
    long first = Math.max(begin, end - 1);
    for (Position position : positions.values()) {
      first = Math.min(first, position.at);
    }
    while (!segments.isEmpty() && segments.getFirst().to <= first) {
      Segment dropped = segments.removeFirst();
      begin = dropped.to;
      beginOffset = dropped.offset;
    }
    for (int i = 0; i + 1 < segments.size(); ) {
      Segment segment = segments.get(i);
      if (isPosition(segment.to)) {
        i++;
      } else {
        Segment next = segments.remove(i + 1);
        segments.set(i, new Segment(next.to, next.offset, segment.deltas.plus(next.deltas)));
      }
    }
  }

  private boolean isPosition(long number) {
    if (number == end - 1) {
      return true;
    }
    for (Position position : positions.values()) {
      boolean maybe = !position.known && number == position.addedEnd;
      if (position.at == number || position.givenTo == number || maybe) {
        return true;
      }
    }
    return false;
  }
}
