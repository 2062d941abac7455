package org.traceetl.server.ozhera.delta;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.traceetl.server.expose.Lease;
import org.traceetl.server.journal.JournalLog;
import org.traceetl.server.journal.QueueImage;
import org.traceetl.server.window.QueueId;
import org.traceetl.server.window.SealedWindow;

/**
 * What a queue's windows added from its take to its release, and which scraper has been given what
 * of it. Windows are counted from the take on; a scraper's place is the number of those it was
 * given. Windows between two places are one sum, which all scrapers share that have not been given
 * it: memory grows with the scrapers that are at different places, not with the windows they are
 * behind. The newest window stays apart, for scrapers that begin.
 *
 * <p>Belongs to the fold thread, but for what is final.
 */
final class QueueDeltas {
  /**
   * What some windows add up to.
   *
   * @param to number of the last one
   * @param offset after it on the span topic
   */
  private record Segment(long to, long offset, Deltas deltas) {}

  /** How far a scraper is. */
  private static final class Place {
    /** It was given what was before. */
    long at;

    /** In the answer under way it is given what is up to there; below {@link #at} without one. */
    long givenTo = -1;

    /** The newest window when it was added: it may have been given that before it was forgotten. */
    long addedEnd;

    /** Of the owner before: given before anything else. */
    Deltas backlog = Deltas.NONE;

    /** Messages before whose counts it cannot be given. */
    long missed;

    /** Whether the place that the broker has is known. */
    boolean known;
  }

  private final QueueId queue;
  private final Lease lease;
  private final NumberedSeries series;

  /** Of windows whose series can be taken for those of this queue. */
  private final long schema;

  /** When the last owner was heard of last, milliseconds since 1970. */
  private final long beganMillis;

  /** Rising and adjoining. */
  private final List<Segment> segments = new ArrayList<>();

  private final Map<Scraper, Place> places = new HashMap<>();

  /** Place before the first segment, and its offset. */
  private long begin;

  private long beginOffset;

  /** Windows so far. */
  private long end;

  private long endMillis;

  /** Answers whose last bytes may be under way. */
  int committed;

  /** Done when the next owner may begin; null until the release. Written by the fold thread. */
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

  /** Windows of another one have series of other dimensions and buckets. For any thread. */
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

  /** Rows so far that belonged to no series of a known type. */
  long unknownRows() {
    return series.unknownRows();
  }

  /** Lets the series go. */
  void release() {
    series.release();
  }

  /** Whether the next owner may have begun. For any thread. */
  boolean left() {
    CompletableFuture<Void> done = released;
    return done != null && done.isDone();
  }

  /**
   * A scraper begins, with the newest window unless that is old or the broker knows a place of it.
   *
   * @param sinceMillis a window sealed before is old; milliseconds since 1970
   */
  void add(Scraper scraper, long sinceMillis) {
    Place place = new Place();
    place.at = endMillis >= sinceMillis ? Math.max(begin, end - 1) : end;
    place.addedEnd = end;
    places.put(scraper, place);
  }

  void remove(Scraper scraper) {
    places.remove(scraper);
    compact();
  }

  boolean knows(Scraper scraper) {
    Place place = places.get(scraper);
    return place != null && place.known;
  }

  /** Whether all before {@link #offset} was given to a scraper whose place is known. */
  boolean isUpTo(Scraper scraper) {
    Place place = places.get(scraper);
    return place != null && place.known && place.backlog.isNone() && place.missed == 0;
  }

  /** Offset on the span topic up to which a scraper needs nothing from the journal. */
  long offset(Scraper scraper) {
    return offsetAt(places.get(scraper).at);
  }

  /** When the window before that offset was sealed, about; milliseconds since 1970. */
  long sealedMillis(Scraper scraper) {
    return places.get(scraper).at == 0 ? beganMillis : endMillis;
  }

  private long offsetAt(long place) {
    if (place == begin) {
      return beginOffset;
    }
    for (Segment segment : segments) {
      if (segment.to == place) {
        return segment.offset;
      }
    }
    throw new IllegalStateException("no place " + place + " in queue " + queue);
  }

  /**
   * Which place the broker has of a scraper.
   *
   * @param mark offset on the span topic up to which it was given windows
   * @param backlog what it was not given of the windows before {@link #offset}
   * @param missed messages before whose counts it cannot be given
   */
  void locate(Scraper scraper, long mark, Deltas backlog, long missed) {
    Place place = places.get(scraper);
    if (place == null || place.known) {
      return;
    }
    place.known = true;
    place.backlog = backlog;
    place.missed = missed;
    for (Segment segment : segments) {
      // It came back to the server that had given it that.
      if (mark != JournalLog.NONE && segment.to > place.at && segment.offset == mark) {
        place.at = segment.to;
      }
    }
    compact();
  }

  /** What a scraper has not been given; it is to be settled. */
  Answer.Part give(Scraper scraper) {
    Place place = places.get(scraper);
    List<Deltas> deltas = new ArrayList<>();
    if (!place.backlog.isNone()) {
      deltas.add(place.backlog);
    }
    for (Segment segment : segments) {
      if (segment.to > place.at && !segment.deltas.isNone()) {
        deltas.add(segment.deltas);
      }
    }
    place.givenTo = end;
    return new Answer.Part(this, end, deltas);
  }

  /** The newest window, whoever was given it; empty before the first one. */
  Answer.Part newest() {
    List<Deltas> deltas = segments.isEmpty() ? List.of() : List.of(segments.getLast().deltas);
    return new Answer.Part(this, end, deltas);
  }

  /**
   * A part of an answer was written or was not.
   *
   * @return the offset that the scraper is at now, or {@link JournalLog#NONE} if it has not moved
   */
  long settle(Scraper scraper, Answer.Part part, boolean written) {
    Place place = places.get(scraper);
    if (place == null) {
      return JournalLog.NONE;
    }
    place.givenTo = -1;
    boolean moved = written && (part.to() > place.at || !isUpTo(scraper));
    if (moved) {
      // Not before: with a place that has not moved the queue's next owner would count them again.
      scraper.missedMessages += place.missed;
      place.missed = 0;
      place.at = part.to();
      place.backlog = Deltas.NONE;
    }
    long offset = moved ? offsetAt(place.at) : JournalLog.NONE;
    compact();
    return offset;
  }

  /** Series with something that some scraper has not been given, counted at each of its sums. */
  long pendingSeries() {
    long series = 0;
    for (Segment segment : segments) {
      series += segment.deltas.rows();
    }
    for (Place place : places.values()) {
      series += place.backlog.rows();
    }
    return series;
  }

  private void compact() {
    long first = Math.max(begin, end - 1);
    for (Place place : places.values()) {
      first = Math.min(first, place.at);
    }
    while (!segments.isEmpty() && segments.getFirst().to <= first) {
      Segment dropped = segments.removeFirst();
      begin = dropped.to;
      beginOffset = dropped.offset;
    }
    for (int i = 0; i + 1 < segments.size(); ) {
      Segment segment = segments.get(i);
      if (isPlace(segment.to)) {
        i++;
      } else {
        Segment next = segments.remove(i + 1);
        segments.set(i, new Segment(next.to, next.offset, segment.deltas.plus(next.deltas)));
      }
    }
  }

  private boolean isPlace(long number) {
    if (number == end - 1) {
      return true;
    }
    for (Place place : places.values()) {
      boolean maybe = !place.known && number == place.addedEnd;
      if (place.at == number || place.givenTo == number || maybe) {
        return true;
      }
    }
    return false;
  }
}
