package org.traceetl.agent.source.ring;

import java.io.IOException;
import java.time.InstantSource;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.traceetl.agent.config.RingConfig;
import org.traceetl.agent.flow.Checkpoint;
import org.traceetl.agent.flow.Intake;
import org.traceetl.agent.source.payload.PayloadArrays;
import org.traceetl.agent.telemetry.AgentMetrics;
import org.traceetl.common.Clocks;
import org.traceetl.common.DutyCycle;
import org.traceetl.common.DutyThread;
import org.traceetl.common.LogThrottle;
import org.traceetl.proto.ring.MalformedRingException;

/**
 * Reads the spans that applications of the host have written into memory they share with the agent.
 * One thread owns all rings. Of each ring one payload is under way at a time; its position travels
 * with it, so it is on disk when the spans are, and only then are their bytes cleared and free
 * again.
 *
 * <p>While spans come the thread looks every few milliseconds. When none came for a while it says
 * so in every ring, looks once more, and sleeps until a writer wakes it or a second has passed.
 *
 * <p>Rings are others' memory: whatever is wrong with one ends the reading of that one.
 */
public final class RingSource implements DutyCycle, AutoCloseable {
  static final String NAME = "ring";

  private static final Logger log = LoggerFactory.getLogger(RingSource.class);

  /** Rings opened at one look into the directory: the others wait for their turn. */
  private static final int MOST_OPENED_AT_ONCE = 64;

  /** What has its temporary name for longer, and no writer, is rubbish. */
  private static final long UNFINISHED_MILLIS = TimeUnit.MINUTES.toMillis(1);

  private final RingConfig config;
  private final Intake intake;
  private final PollIntervals rhythm;
  private final LongSupplier nanoClock;
  private final InstantSource wall;
  private final LogThrottle failureLog;
  private final RingCounters counters = new RingCounters();
  private final DutyThread thread;

  // Owned by the thread, once it has started.
  private final RingDirectory directory;
  private final OpenRings rings;
  private final GivenUpRings givenUp;
  private final RingPositions positions;
  private final RingReader reader;
  private long nextListNanos;
  private long nextTidyNanos;
  private long lastWorkNanos;
  private int turn;
  private long idleNanos;
  private boolean sleepsNext;

  private volatile boolean reading = true;

  /**
   * A source that reads nothing yet.
   *
   * @param notes where earlier runs stopped, {@linkplain #isOne among others}
   * @param mostBytesUnderWay of records in the pipeline
   * @throws IOException when they cannot be read
   */
  public RingSource(
      RingConfig config,
      Intake intake,
      Collection<Checkpoint.Position> notes,
      long mostBytesUnderWay,
      AgentMetrics metrics,
      Clocks clocks)
      throws IOException {
    this(config, intake, notes, mostBytesUnderWay, metrics, PollIntervals.USUAL, clocks);
  }

  RingSource(
      RingConfig config,
      Intake intake,
      Collection<Checkpoint.Position> notes,
      long mostBytesUnderWay,
      AgentMetrics metrics,
      PollIntervals rhythm,
      Clocks clocks)
      throws IOException {
    this.config = config;
    this.intake = intake;
    this.rhythm = rhythm;
    nanoClock = clocks.nanoClock();
    wall = clocks.wall();
    this.failureLog = new LogThrottle(nanoClock);
    thread = new DutyThread("rings", this, nanoClock);
    long now = nanoClock.getAsLong();
    nextListNanos = now;
    nextTidyNanos = now;
    lastWorkNanos = now;
    directory = new RingDirectory(config, rhythm, nanoClock);
    givenUp = new GivenUpRings(counters, nanoClock);
    positions = new RingPositions(notes);
    PayloadArrays arrays = new PayloadArrays();
    Shares shares = new Shares(config);
    reader = new RingReader(intake, mostBytesUnderWay, arrays, shares, counters, rhythm, now);
    // Used on the pipeline's thread.
    RingSpanDecoder decoder = new RingSpanDecoder(counters.attributesLeftOut);
    rings =
        new OpenRings(
            shares,
            positions,
            givenUp,
            reader,
            resource -> new RingPayload(decoder, resource, arrays, thread::wake));
    counters.register(metrics);
  }

  /** Whether a note is a ring's. */
  public static boolean isOne(Checkpoint.Position note) {
    return RingPosition.isOne(note);
  }

  /** Starts to read. */
  public void start() {
    if (config.enabled()) {
      thread.start();
    }
  }

  /** Reads nothing more; what is under way still counts. */
  public void stopAccepting() {
    reading = false;
  }

  /** Ends the thread. Rings stay as they are, for the next start. */
  @Override
  public void close() {
    reading = false;
    thread.close();
  }

  /**
   * Looks at all that may be new. Always returns 0: rings are read at a rhythm, however much there
   * is in them.
   */
  @Override
  public int doWork() throws IOException {
    try {
      look();
    } catch (InternalError e) {
      giveUpGuilty(e);
    }
    return 0;
  }

  @Override
  public long idleNanos() {
    return idleNanos;
  }

  /** Pauses, or sleeps until a writer wakes it. */
  @Override
  public void idle(long nanos, Parking parking) throws IOException {
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
  public void endWait() {
    directory.wake();
  }

  /** A fault in mapped memory may be told late, when its ring is not at hand any more. */
  private void giveUpGuilty(InternalError e) {
    rings.giveUpGuilty(directory.files(), null, e);
    pause(rhythm.retryNanos());
  }

  private void pause(long nanos) {
    sleepsNext = false;
    idleNanos = nanos;
  }

  private void look() throws IOException {
    // Should it fail.
    pause(rhythm.retryNanos());
    long now = nanoClock.getAsLong();
    if (directory.open(now)) {
      nextListNanos = now;
    }
    RingFiles files = directory.files();
    if (files == null && rings.size() == 0) {
      pause(rhythm.checkNanos());
      return;
    }
    if (files != null && now - nextListNanos >= 0) {
      nextListNanos = now + rhythm.listNanos();
      // The directory's time is a tick's: what came within that of the last look is found by this.
      if (files.hasChanged() || now - nextTidyNanos >= 0) {
        list(files, now);
      }
    }
    if (reading) {
      // Before another ring of such a name has one.
      positions.tell(intake);
    }
    if (lookAtAll(now)) {
      lastWorkNanos = now;
    }
    if (now - nextTidyNanos >= 0) {
      nextTidyNanos = now + rhythm.checkNanos();
      if (files != null) {
        givenUp.removeDead(files).forEach(positions::forget);
      }
    }
    counters.reading = rings.size();
    counters.unread = givenUp.size();
    if (files == null || now - lastWorkNanos < rhythm.awakeNanos()) {
      pause(rhythm.pauseNanos());
    } else {
      sleepsNext = true;
      idleNanos = rhythm.checkNanos();
    }
  }

  /** Finds new rings, and what is left of others. */
  private void list(RingFiles files, long now) throws IOException {
    RingFiles.Found found = files.list();
    int opened = 0;
    int waiting = 0;
    for (String name : found.rings()) {
      if (reading && !rings.contains(name) && !givenUp.contains(name)) {
        if (opened == MOST_OPENED_AT_ONCE || rings.size() >= config.maxRings()) {
          waiting++;
        } else {
          opened++;
          waiting += rings.open(files, name, now) ? 0 : 1;
        }
      }
    }
    counters.waiting = waiting;
    if (found.all()) {
      Set<String> names = new HashSet<>(found.rings());
      givenUp.retain(names);
      if (reading) {
        positions.forgetAllBut(names);
      }
    }
    if (now - nextTidyNanos >= 0) {
      removeUnfinished(files, found.unfinished());
    }
  }

  private void removeUnfinished(RingFiles files, List<String> names) {
    for (String name : names) {
      if (wall.millis() - files.writtenMillis(name) > UNFINISHED_MILLIS) {
        try {
          boolean _ = files.removeIfDead(name);
        } catch (IOException e) {
          if (failureLog.permits()) {
            log.warn("Cannot remove {}: {}", name, e.toString());
          }
        }
      }
    }
  }

  /** Looks at each ring; true if one of them had something, or has something under way. */
  private boolean lookAtAll(long now) {
    boolean work = false;
    List<Ring> inTurn = rings.copy();
    // From another one each time, so that no ring takes all the room there is in the pipeline.
    turn++;
    for (int i = 0; i < inTurn.size(); i++) {
      work |= look(inTurn.get(Math.floorMod(i + turn, inTurn.size())), now);
    }
    return work;
  }

  private boolean look(Ring ring, long now) {
    if (!rings.contains(ring)) {
      // Given up with another.
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

  /** Ends with a ring whose writers are dead and of which all is in the spool. */
  private void finish(Ring ring) throws IOException {
    // Should the file not go, nothing of it is read again.
    ring.cursor.head(ring.position);
    reader.countDrops(ring);
    // Without a directory it is gone with it.
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
    if (empty && !thread.isEnded()) {
      woken = files.awaitWake((int) TimeUnit.NANOSECONDS.toMillis(nanos));
    }
    for (Ring ring : rings.all()) {
      ring.cursor.asleep(false);
    }
    if (woken) {
      counters.wakes.increment();
    }
    if (woken || !empty) {
      lastWorkNanos = nanoClock.getAsLong();
      nextListNanos = lastWorkNanos;
    }
  }

  @Override
  public void onEnd() {
    for (Ring ring : rings.copy()) {
      try {
        // What was confirmed since the last look is not to be read again.
        if (ring.payload.takeOutcome() == RingPayload.Outcome.CONFIRMED) {
          ring.cursor.consume(ring.head, ring.payload.after().position());
        }
      } catch (InternalError e) {
        // Its position is in the spool.
      }
      rings.drop(ring);
    }
    directory.close();
  }
}
