package org.traceetl.agent.source.ring;

import java.io.IOException;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.traceetl.agent.config.RingConfig;
import org.traceetl.agent.flow.Checkpoint;
import org.traceetl.agent.flow.Intake;
import org.traceetl.common.Clocks;
import org.traceetl.common.LogThrottle;
import org.traceetl.common.SteppedTask;
import org.traceetl.common.SteppedThread;
import org.traceetl.proto.ring.MalformedRingException;

/**
 * Reads spans that applications of the host write into shared memory. One thread owns all rings.
 * Each ring has one payload in progress at a time. The ring's position travels with it, so the
 * spool stores both together; then the bytes are cleared and free for writers.
 *
 * <p>While spans arrive, the thread polls every few milliseconds. After a time without spans it
 * marks every ring as asleep and polls once more. Then it sleeps until a writer wakes it, at most a
 * second.
 *
 * <p>Rings belong to applications: an error in one ring ends only the reading of that ring.
 */
public final class RingSource implements SteppedTask, AutoCloseable {
  static final String NAME = "ring";

  private static final Logger log = LoggerFactory.getLogger(RingSource.class);

  private final RingConfig config;
  private final Intake intake;
  private final PollIntervals rhythm;
  private final LongSupplier nanoClock;
  private final RingMetrics metrics = new RingMetrics();
  private final SteppedThread thread;

  // Owned by the thread after its start.
  private final RingDirectory directory;
  private final OpenRings rings;
  private final RingDiscovery discovery;
  private final RingPositions positions;
  private final RingReader reader;
  private long lastWorkNanos;
  private int turn;
  private long idleNanos;
  private boolean sleepsNext;

  private volatile boolean reading = true;

  /**
   * Creates a source that does not read yet.
   *
   * @param notes positions of earlier runs, of rings and other sources; see {@link #isOne}
   * @param mostBytesUnderWay limit of the records in the pipeline, bytes
   * @throws IOException if a note cannot be read
   */
  public RingSource(
      RingConfig config,
      Intake intake,
      Collection<Checkpoint.Position> notes,
      long mostBytesUnderWay,
      Clocks clocks)
      throws IOException {
    this(config, intake, notes, mostBytesUnderWay, PollIntervals.USUAL, clocks);
  }

  RingSource(
      RingConfig config,
      Intake intake,
      Collection<Checkpoint.Position> notes,
      long mostBytesUnderWay,
      PollIntervals rhythm,
      Clocks clocks)
      throws IOException {
    this.config = config;
    this.intake = intake;
    this.rhythm = rhythm;
    nanoClock = clocks.nanoClock();
    thread = new SteppedThread(clocks, "rings", this, new LogThrottle(nanoClock));
    lastWorkNanos = nanoClock.getAsLong();
    directory = new RingDirectory(config, rhythm, nanoClock);
    positions = new RingPositions(notes);
    Shares shares = new Shares(config);
    reader = new RingReader(intake, mostBytesUnderWay, shares, metrics, rhythm, lastWorkNanos);
    // Used on the pipeline's thread.
    RingSpanDecoder decoder = new RingSpanDecoder(metrics.attributesLeftOut);
    rings =
        new OpenRings(
            shares,
            positions,
            new GivenUpRings(metrics, nanoClock),
            reader,
            resource -> new RingPayload(decoder, resource, reader.arrays(), thread::wake));
    discovery = new RingDiscovery(config, rings, metrics, rhythm, clocks);
  }

  /** Returns whether a note is of a ring. */
  public static boolean isOne(Checkpoint.Position note) {
    return RingPosition.isOne(note);
  }

  public RingMetrics metrics() {
    return metrics;
  }

  public void start() {
    if (config.enabled()) {
      thread.start();
    }
  }

  /** Stops reading; payloads in progress still count. */
  public void stopAccepting() {
    reading = false;
  }

  /** Ends the thread. Rings remain for the next start. */
  @Override
  public void close() {
    reading = false;
    thread.close();
  }

  /** Looks at all rings that may have new records. */
  @Override
  public long doWork() throws IOException {
    try {
      look();
    } catch (InternalError e) {
      giveUpGuilty(e);
    }
    return idleNanos;
  }

  /** Pauses, or sleeps until a writer wakes the thread. */
  @Override
  public void pause(long nanos, Parking parking) throws IOException {
    if (!sleepsNext) {
      parking.park(nanos);
      return;
    }
    try {
      sleep(directory.files(), nanos);
    } catch (InternalError e) {
      giveUpGuilty(e);
      parking.park(idleNanos);
    }
  }

  @Override
  public void endPause() {
    directory.wake();
  }

  /** Handles a memory fault that the JVM reported late, when its ring was unknown. */
  private void giveUpGuilty(InternalError e) {
    rings.giveUpGuilty(directory.files(), null, e);
    rest(rhythm.retryNanos());
  }

  private void rest(long nanos) {
    sleepsNext = false;
    idleNanos = nanos;
  }

  private void look() throws IOException {
    // Applies if the look fails.
    rest(rhythm.retryNanos());
    long now = nanoClock.getAsLong();
    if (directory.open(now)) {
      discovery.listNext(now);
    }
    RingFiles files = directory.files();
    if (files == null && rings.size() == 0) {
      rest(rhythm.checkNanos());
      return;
    }
    if (files != null) {
      discovery.find(files, reading, now);
    }
    if (reading) {
      // Before a ring with the same name gets a note.
      positions.tell(intake);
    }
    if (lookAtAll(now)) {
      lastWorkNanos = now;
    }
    discovery.tidy(files, now);
    metrics.reading = rings.size();
    metrics.unread = rings.givenUp();
    if (files == null || now - lastWorkNanos < rhythm.awakeNanos()) {
      rest(rhythm.pauseNanos());
    } else {
      sleepsNext = true;
      idleNanos = rhythm.checkNanos();
    }
  }

  /** Looks at each ring; returns true if one has records or a payload in progress. */
  private boolean lookAtAll(long now) {
    boolean work = false;
    List<Ring> inTurn = rings.copy();
    // Start with another ring each time, so that no ring takes all the room in the pipeline.
    turn++;
    for (int i = 0; i < inTurn.size(); i++) {
      work |= look(inTurn.get(Math.floorMod(i + turn, inTurn.size())), now);
    }
    return work;
  }

  private boolean look(Ring ring, long now) {
    if (!rings.contains(ring)) {
      // Given up together with another ring.
      return true;
    }
    try {
      if (ring.isQuiet() && now - ring.nextCheckNanos < 0) {
        return false;
      }
      RingReader.Found found = reader.read(ring, reading, now);
      if (found == RingReader.Found.END) {
        finish(ring);
      } else if (now - ring.nextCheckNanos >= 0) {
        ring.nextCheckNanos = now + rhythm.checkNanos();
        ring.checkLength();
        reader.countDrops(ring);
        ring.checkWriters(directory.files());
      }
      ring.faults = 0;
      return found != RingReader.Found.NOTHING;
    } catch (MalformedRingException | IOException | RuntimeException e) {
      rings.giveUp(ring, e);
    } catch (InternalError e) {
      rings.giveUpGuilty(directory.files(), ring, e);
    }
    return true;
  }

  /** Closes a ring whose writers are dead and whose records are all in the spool. */
  private void finish(Ring ring) throws IOException {
    // If the file cannot be removed, its records are not read again.
    ring.cursor.head(ring.position);
    reader.countDrops(ring);
    // If the directory is gone, so is the file.
    if (directory.files() != null) {
      directory.files().remove(ring.name, ring.file);
    }
    rings.drop(ring);
    if (ring.saved) {
      positions.forget(ring.name);
    }
    log.info("Finished ring {} at byte {}", ring.name, ring.position);
  }

  private void sleep(RingFiles files, long nanos) throws IOException {
    boolean empty = true;
    for (Ring ring : rings.all()) {
      ring.cursor.asleep(true);
    }
    for (Ring ring : rings.all()) {
      empty &= !ring.cursor.isWhole(ring.position);
    }
    boolean woken = false;
    if (empty && !thread.isClosed()) {
      woken = files.awaitWake((int) TimeUnit.NANOSECONDS.toMillis(nanos));
    }
    for (Ring ring : rings.all()) {
      ring.cursor.asleep(false);
    }
    if (woken) {
      metrics.wakes.increment();
    }
    if (woken || !empty) {
      lastWorkNanos = nanoClock.getAsLong();
      discovery.listNext(lastWorkNanos);
    }
  }

  @Override
  public void onEnd() {
    for (Ring ring : rings.copy()) {
      try {
        // Consume what was confirmed since the last look, so that it is not read again.
        if (ring.payload.takeOutcome() == RingPayload.Outcome.CONFIRMED) {
          ring.cursor.consume(ring.head, ring.payload.after().position());
        }
      } catch (InternalError e) {
        // The spool has the position.
      }
      rings.drop(ring);
    }
    directory.close();
  }
}
