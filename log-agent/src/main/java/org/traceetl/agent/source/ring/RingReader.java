package org.traceetl.agent.source.ring;

import java.io.IOException;
import org.traceetl.agent.flow.Intake;
import org.traceetl.agent.flow.Intake.Admission;
import org.traceetl.agent.source.payload.PayloadArrays;
import org.traceetl.proto.ring.MalformedRingException;

/**
 * Reads rings: offers new records to the pipeline, and frees their bytes once they are in the
 * spool. Each ring has one payload in progress at a time. Owned by the source's thread.
 */
final class RingReader {
  /** Most bytes of records in a payload. */
  private static final int MOST_PAYLOAD_BYTES = 1024 * 1024;

  /** Abandoned claims skipped in one look, and bytes scanned of a claim without a length. */
  private static final int MOST_PASSED_AT_ONCE = 1_024;

  private static final long MOST_PASSED_BYTES = 64 * 1024;

  /** The result of a look at a ring. */
  enum Found {
    NOTHING,
    /** New records, or a payload in progress. */
    WORK,
    /** The ring is dead, and all of it is in the spool. */
    END
  }

  private final Intake intake;
  private final long mostBytesUnderWay;
  private final PayloadArrays arrays = new PayloadArrays();
  private final Shares shares;
  private final RingMetrics metrics;
  private final PollIntervals rhythm;
  private long bytesUnderWay;
  private long pausedUntilNanos;

  /**
   * @param mostBytesUnderWay limit of the records in the pipeline, bytes
   */
  RingReader(
      Intake intake,
      long mostBytesUnderWay,
      Shares shares,
      RingMetrics metrics,
      PollIntervals rhythm,
      long nowNanos) {
    this.intake = intake;
    this.mostBytesUnderWay = mostBytesUnderWay;
    this.shares = shares;
    this.metrics = metrics;
    this.rhythm = rhythm;
    this.pausedUntilNanos = nowNanos;
  }

  /** Returns the arrays that receive copies of records; payloads give them back. */
  PayloadArrays arrays() {
    return arrays;
  }

  /**
   * Handles the last outcome and offers new records.
   *
   * @param offers false to handle only the outcome
   */
  Found read(Ring ring, boolean offers, long now) throws IOException, MalformedRingException {
    switch (ring.payload.takeOutcome()) {
      case UNDER_WAY -> {
        return Found.WORK;
      }
      case CONFIRMED -> {
        long to = ring.payload.after().position();
        ring.cursor.consume(ring.head, to);
        ring.checkLength();
        ring.head = to;
        ring.saved = true;
      }
      case MALFORMED ->
          throw new MalformedRingException(
              MalformedRingException.Part.RECORD, "records changed after they were written");
      case FAILED -> {
        ring.position = ring.head;
        ring.pausedUntilNanos = now + rhythm.retryNanos();
      }
      case NONE -> {}
    }
    release(ring);
    long tail = ring.cursor.tail(ring.head, ring.position);
    if (!offers || now - ring.pausedUntilNanos < 0) {
      return offers && tail != ring.position ? Found.WORK : Found.NOTHING;
    }
    long end = ring.cursor.wholeUntil(ring.position, tail, MOST_PAYLOAD_BYTES);
    if (end == ring.position && ring.dead) {
      end = passOver(ring, tail);
    }
    if (end == ring.position) {
      if (!ring.dead) {
        // An open claim does not keep the source awake: its writer wakes the agent at the commit.
        return Found.NOTHING;
      }
      return tail == ring.position ? Found.END : Found.WORK;
    }
    if (now - pausedUntilNanos >= 0) {
      offer(ring, end, now);
    }
    return Found.WORK;
  }

  /**
   * Skips claims that will never be committed, up to a limit per look.
   *
   * @return end of the complete records after them
   */
  private long passOver(Ring ring, long tail) throws MalformedRingException {
    long end = ring.position;
    for (int i = 0; i < MOST_PASSED_AT_ONCE && end == ring.position && end != tail; i++) {
      boolean begun = ring.cursor.isBegun(end);
      boolean goesOn = ring.inEmptyClaim && !begun;
      if (end >= ring.passedUntil && !goesOn) {
        metrics.claimsAbandoned.increment();
      }
      ring.position = ring.cursor.passOver(end, tail, MOST_PASSED_BYTES);
      ring.passedUntil = Math.max(ring.passedUntil, ring.position);
      ring.inEmptyClaim = !begun && ring.position != tail && !ring.cursor.isBegun(ring.position);
      end = ring.cursor.wholeUntil(ring.position, tail, MOST_PAYLOAD_BYTES);
    }
    return end;
  }

  private void offer(Ring ring, long end, long now) throws IOException, MalformedRingException {
    long needed = ring.dictionary.neededBytes(ring.cursor);
    if (needed != ring.dictionary.heldBytes()
        && needed <= shares.mostStringBytes()
        && !shares.hasRoomForStrings(ring, needed)) {
      // The strings have no room now. Only this ring waits.
      ring.pausedUntilNanos = now + rhythm.checkNanos();
      return;
    }
    ring.dictionary.update(ring.cursor, shares.mostStringBytes());
    shares.charge(ring);
    countDrops(ring);
    int most = (int) (end - ring.position);
    if (bytesUnderWay + most > mostBytesUnderWay) {
      // The rest of the pipeline's room is for other sources.
      return;
    }
    byte[] records = arrays.take(most);
    int length = ring.cursor.copy(ring.position, end, records);
    // A copy from a cut file is worthless, and the JVM reports the fault late, at a system call at
    // the latest. So a fault appears here and not inside the offer.
    ring.checkLength();
    ring.payload.set(ring.dictionary.strings(), ring.savedAt(end));
    if (intake.offer(RingSource.NAME, records, length, ring.payload, ring.payload)
        == Admission.ACCEPTED) {
      ring.position = end;
      ring.bytesUnderWay = length;
      bytesUnderWay += length;
    } else {
      // The pipeline is full; it would refuse other rings as well.
      ring.payload.reset();
      arrays.give(records);
      pausedUntilNanos = now + rhythm.retryNanos();
    }
  }

  /** Subtracts the ring's bytes from those in the pipeline. */
  void release(Ring ring) {
    bytesUnderWay -= ring.bytesUnderWay;
    ring.bytesUnderWay = 0;
  }

  /** Adds what the writers report; decreases are ignored. */
  void countDrops(Ring ring) {
    long full = ring.cursor.droppedRingFull();
    long large = ring.cursor.droppedTooLarge();
    metrics.drop(RingMetrics.Drop.RING_FULL, Math.max(0, full - ring.droppedRingFull));
    metrics.drop(RingMetrics.Drop.TOO_LARGE, Math.max(0, large - ring.droppedTooLarge));
    ring.droppedRingFull = full;
    ring.droppedTooLarge = large;
  }
}
