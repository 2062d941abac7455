package org.traceetl.agent.source.ring;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.NoSuchFileException;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.traceetl.agent.config.RingConfig;
import org.traceetl.agent.flow.Completion;
import org.traceetl.agent.flow.Intake;
import org.traceetl.agent.flow.Intake.Admission;
import org.traceetl.agent.flow.Note;
import org.traceetl.agent.source.payload.PayloadArrays;
import org.traceetl.agent.source.ring.RingCounters.GivenUp;
import org.traceetl.agent.telemetry.AgentMetrics;
import org.traceetl.agent.telemetry.LogThrottle;
import org.traceetl.proto.ring.MalformedRingException;
import org.traceetl.proto.ring.RingHeader;

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
public final class RingSource implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(RingSource.class);
  private static final String NAME = "ring";

  /** Most bytes of records in a payload. */
  private static final int MOST_PAYLOAD_BYTES = 1024 * 1024;

  /** Claims without a record passed over at one look, and bytes of one without a length. */
  private static final int MOST_PASSED_AT_ONCE = 1_024;

  private static final long MOST_PASSED_BYTES = 64 * 1024;

  /** Between two looks while spans come; half of what a span may wait. */
  private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(5);

  /** How long nothing has to come before the thread sleeps: writers pay for waking it. */
  private static final long AWAKE_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

  /** Between two looks into the directory while it is awake. */
  private static final long LIST_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

  /** Longest sleep, and between two looks whether a ring's writers live. */
  private static final long CHECK_NANOS = TimeUnit.SECONDS.toNanos(1);

  /** Between two attempts to have the directory. */
  private static final long OPEN_NANOS = TimeUnit.SECONDS.toNanos(5);

  /** What was refused or failed is tried again after it. */
  private static final long RETRY_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

  /** Rings opened at one look into the directory: the others wait for their turn. */
  private static final int MOST_OPENED_AT_ONCE = 64;

  /** Rings given up that are known: above it the oldest would be tried again. */
  private static final int MOST_GIVEN_UP = 4_096;

  /** What has its temporary name for longer, and no writer, is rubbish. */
  private static final long UNFINISHED_MILLIS = TimeUnit.MINUTES.toMillis(1);

  private final RingConfig config;
  private final Intake intake;
  private final long mostBytesUnderWay;
  private final LongSupplier nanoClock;
  private final LogThrottle directoryLog;
  private final LogThrottle givenUpLog;
  private final LogThrottle failureLog;
  private final RingCounters counters = new RingCounters();
  private final PayloadArrays arrays = new PayloadArrays();
  private final Thread thread = Thread.ofPlatform().name("rings").unstarted(this::run);

  // Used on the pipeline's thread.
  private final RingSpanDecoder decoder = new RingSpanDecoder(counters.attributesLeftOut);

  // Owned by the thread, once it has started.
  private final Map<String, Ring> rings = new LinkedHashMap<>();
  private final Map<String, SavedPosition> positions = new HashMap<>();
  private final Set<String> givenUp = new LinkedHashSet<>();
  private final Deque<String> toForget = new ArrayDeque<>();
  private RingFiles files;
  private long mappedBytes;
  private long dictionaryBytes;
  private long bytesUnderWay;
  private long nextOpenNanos;
  private long nextListNanos;
  private long nextTidyNanos;
  private long pausedUntilNanos;
  private long lastWorkNanos;
  private int turn;

  private volatile boolean reading = true;
  private volatile boolean stopped;
  // Guards the end of a sleep against the end of the directory.
  private final Object sleeping = new Object();

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
      Collection<Note.Place> notes,
      long mostBytesUnderWay,
      AgentMetrics metrics,
      LongSupplier nanoClock)
      throws IOException {
    this.config = config;
    this.intake = intake;
    this.mostBytesUnderWay = mostBytesUnderWay;
    this.nanoClock = nanoClock;
    this.directoryLog = new LogThrottle(1, TimeUnit.HOURS, nanoClock);
    this.givenUpLog = new LogThrottle(10, TimeUnit.SECONDS, nanoClock);
    this.failureLog = new LogThrottle(10, TimeUnit.SECONDS, nanoClock);
    for (Note.Place note : notes) {
      if (isOne(note)) {
        SavedPosition position = SavedPosition.of(note);
        positions.put(position.file(), position);
      }
    }
    counters.register(metrics);
  }

  /** Whether a note is a ring's. */
  public static boolean isOne(Note.Place note) {
    return SavedPosition.isOne(note);
  }

  /** Starts to read. */
  public synchronized void start() {
    if (config.enabled() && !stopped) {
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
    synchronized (this) {
      stopped = true;
    }
    if (thread.getState() == Thread.State.NEW) {
      return;
    }
    endSleep();
    try {
      thread.join();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void endSleep() {
    LockSupport.unpark(thread);
    synchronized (sleeping) {
      if (files != null) {
        try {
          files.wake();
        } catch (IOException e) {
          // It looks up within a second anyway.
        }
      }
    }
  }

  private void run() {
    long now = nanoClock.getAsLong();
    nextOpenNanos = now;
    nextListNanos = now;
    nextTidyNanos = now;
    pausedUntilNanos = now;
    lastWorkNanos = now;
    while (!stopped) {
      try {
        step();
      } catch (IOException | RuntimeException e) {
        if (failureLog.permits()) {
          log.error("The ring source goes on after an unexpected failure", e);
        }
        LockSupport.parkNanos(RETRY_NANOS);
      } catch (InternalError e) {
        // A fault in mapped memory may be told late, when its ring is not at hand any more.
        boolean _ = giveUpWhatWasCut();
        LockSupport.parkNanos(RETRY_NANOS);
      }
    }
    end();
  }

  /** One look at all that may be new, and a pause or a sleep. */
  private void step() throws IOException {
    long now = nanoClock.getAsLong();
    if (!haveDirectory(now) && rings.isEmpty()) {
      LockSupport.parkNanos(CHECK_NANOS);
      return;
    }
    if (files != null && now - nextListNanos >= 0) {
      nextListNanos = now + LIST_NANOS;
      // The directory's time is a tick's: what came within that of the last look is found by this.
      if (files.hasChanged() || now - nextTidyNanos >= 0) {
        list(now);
      }
    }
    if (lookAtAll(now)) {
      lastWorkNanos = now;
    }
    if (now - nextTidyNanos >= 0) {
      nextTidyNanos = now + CHECK_NANOS;
      tidy();
    }
    forgetFinished();
    measure();
    if (files == null || now - lastWorkNanos < AWAKE_NANOS) {
      LockSupport.parkNanos(PAUSE_NANOS);
    } else {
      sleep();
    }
  }

  /** Tries to have the directory; false while there is none. */
  private boolean haveDirectory(long now) {
    if (now - nextOpenNanos < 0) {
      return files != null;
    }
    nextOpenNanos = now + OPEN_NANOS;
    if (files != null && files.isInPlace()) {
      return true;
    }
    closeDirectory();
    try {
      RingFiles opened = RingFiles.open(config.directory(), config.group());
      synchronized (sleeping) {
        files = opened;
      }
      nextListNanos = now;
      log.info("Rings of applications are read in {}", config.directory());
      return true;
    } catch (IOException | RuntimeException e) {
      if (directoryLog.permits()) {
        log.warn(
            "No rings are read, it is tried again every {} s: {}",
            TimeUnit.NANOSECONDS.toSeconds(OPEN_NANOS),
            e.toString());
      }
      return false;
    }
  }

  private void closeDirectory() {
    synchronized (sleeping) {
      if (files != null) {
        files.close();
        files = null;
      }
    }
  }

  /** Finds new rings, and what is left of others. */
  private void list(long now) throws IOException {
    RingFiles.Found found = files.list();
    Set<String> names = new HashSet<>(found.rings());
    int opened = 0;
    int waiting = 0;
    for (String name : found.rings()) {
      if (reading && !rings.containsKey(name) && !givenUp.contains(name)) {
        if (opened == MOST_OPENED_AT_ONCE || rings.size() >= config.maxRings()) {
          waiting++;
        } else {
          opened++;
          waiting += open(name, now) ? 0 : 1;
        }
      }
    }
    counters.waiting = waiting;
    if (found.all()) {
      givenUp.retainAll(names);
    }
    if (reading && found.all()) {
      for (String name : List.copyOf(positions.keySet())) {
        if (!names.contains(name) && !rings.containsKey(name)) {
          positions.remove(name);
          toForget.add(name);
        }
      }
    }
    if (now - nextTidyNanos >= 0) {
      removeUnfinished(found.unfinished());
    }
  }

  /** False if it has to wait. */
  private boolean open(String name, long now) {
    try {
      int user = files.user(name);
      FileChannel channel = files.openRing(name);
      RingHeader header;
      boolean fits;
      try {
        header = Ring.header(channel);
        fits = hasRoom(user, header.fileBytes());
        if (fits && !files.isWhole(name, header.fileBytes())) {
          throw new MalformedRingException(
              MalformedRingException.Part.HEADER, "its file has holes");
        }
      } catch (IOException | MalformedRingException e) {
        channel.close();
        throw e;
      }
      if (!fits) {
        channel.close();
        return false;
      }
      Ring ring =
          Ring.map(
              name,
              header,
              channel,
              positions.get(name),
              mostDictionaryBytes(),
              resource -> new RingPayload(decoder, resource, arrays, thread));
      ring.user = user;
      ring.nextCheckNanos = now;
      ring.pausedUntilNanos = now;
      rings.put(name, ring);
      mappedBytes += header.fileBytes();
      charge(ring);
      if (!hasRoomForStrings(ring, ring.chargedBytes)) {
        drop(ring);
        return false;
      }
      positions.remove(name);
      log.info(
          "Reading ring {} of process {} from byte {}", name, header.processId(), ring.position);
    } catch (NoSuchFileException e) {
      log.debug("Ring {} is gone since it was found", name);
    } catch (MalformedRingException e) {
      giveUp(name, GivenUp.valueOf(e.part().name()), e.getMessage());
    } catch (IOException e) {
      giveUp(name, GivenUp.UNREADABLE, e.toString());
    } catch (InternalError e) {
      giveUp(name, GivenUp.TRUNCATED, "its memory cannot be read");
    } catch (RuntimeException e) {
      giveUpUnexpectedly(name, e);
    }
    return true;
  }

  /** Whether one more may be read: of one user no more than three quarters of all. */
  private boolean hasRoom(int user, long fileBytes) {
    int ofUser = 1;
    long bytesOfUser = fileBytes;
    for (Ring ring : rings.values()) {
      if (ring.user == user) {
        ofUser++;
        bytesOfUser += ring.header.fileBytes();
      }
    }
    return ofUser <= Math.ceilDiv(3 * config.maxRings(), 4)
        && mappedBytes + fileBytes <= config.maxBytes()
        && bytesOfUser <= Math.ceilDiv(3 * config.maxBytes(), 4);
  }

  /** Whether a ring's strings may take so much: those of one user no more than half of all. */
  private boolean hasRoomForStrings(Ring ring, long bytes) {
    long more = bytes - ring.chargedBytes;
    long ofUser = more;
    for (Ring other : rings.values()) {
      ofUser += other.user == ring.user ? other.chargedBytes : 0;
    }
    return dictionaryBytes + more <= config.maxDictionaryBytes()
        && ofUser <= config.maxDictionaryBytes() / 2;
  }

  /** A quarter of all, so that one ring does not take the room of the others. */
  private long mostDictionaryBytes() {
    return config.maxDictionaryBytes() / 4;
  }

  /** Looks at each ring; true if one of them had something, or has something under way. */
  private boolean lookAtAll(long now) {
    boolean work = false;
    List<Ring> inTurn = List.copyOf(rings.values());
    // From another one each time, so that no ring takes all the room there is in the pipeline.
    turn++;
    for (int i = 0; i < inTurn.size(); i++) {
      Ring ring = inTurn.get(Math.floorMod(i + turn, inTurn.size()));
      work |= look(ring, now);
    }
    return work;
  }

  private boolean look(Ring ring, long now) {
    if (rings.get(ring.name) != ring) {
      // Given up with another.
      return true;
    }
    GivenUp reason;
    String problem;
    try {
      if (ring.isQuiet() && now - ring.nextCheckNanos < 0) {
        return false;
      }
      boolean work = read(ring, now);
      // It may be finished by now.
      if (rings.get(ring.name) == ring && now - ring.nextCheckNanos >= 0) {
        ring.nextCheckNanos = now + CHECK_NANOS;
        check(ring);
      }
      return work;
    } catch (MalformedRingException e) {
      reason = GivenUp.valueOf(e.part().name());
      problem = e.getMessage();
    } catch (IOException e) {
      reason = GivenUp.UNREADABLE;
      problem = e.toString();
    } catch (InternalError e) {
      if (giveUpWhatWasCut()) {
        return true;
      }
      reason = GivenUp.TRUNCATED;
      problem = "its memory cannot be read";
    } catch (RuntimeException e) {
      drop(ring);
      giveUpUnexpectedly(ring.name, e);
      return true;
    }
    drop(ring);
    giveUp(ring.name, reason, problem);
    return true;
  }

  /** Settles what was under way, and offers what is new. True if there was any of both. */
  private boolean read(Ring ring, long now) throws IOException, MalformedRingException {
    switch (ring.payload.takeOutcome()) {
      case UNDER_WAY -> {
        return true;
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
        ring.pausedUntilNanos = now + RETRY_NANOS;
      }
      case NONE -> {}
    }
    release(ring);
    long tail = ring.cursor.tail(ring.head, ring.position);
    if (!reading || now - ring.pausedUntilNanos < 0) {
      return reading && tail != ring.position;
    }
    long end = ring.cursor.wholeUntil(ring.position, tail, MOST_PAYLOAD_BYTES);
    if (end == ring.position && ring.dead) {
      end = passOver(ring, tail);
    }
    if (end == ring.position) {
      if (ring.dead && tail == ring.position) {
        finish(ring);
      }
      // A claim under way keeps nobody awake: who commits it looks whether the agent sleeps.
      return ring.dead;
    }
    if (now - pausedUntilNanos >= 0) {
      offer(ring, end, now);
    }
    return true;
  }

  /**
   * Passes over claims that will never be committed, as many as are looked through in a moment.
   *
   * @return where the records behind them that are whole end
   */
  private long passOver(Ring ring, long tail) throws MalformedRingException {
    long end = ring.position;
    for (int i = 0; i < MOST_PASSED_AT_ONCE && end == ring.position && end != tail; i++) {
      boolean begun = ring.cursor.isBegun(end);
      boolean goesOn = ring.inEmptyClaim && !begun;
      if (end >= ring.passedUntil && !goesOn) {
        counters.claimsAbandoned.increment();
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
        && needed <= mostDictionaryBytes()
        && !hasRoomForStrings(ring, needed)) {
      // There is no room for its strings now. It waits: it alone.
      ring.pausedUntilNanos = now + CHECK_NANOS;
      return;
    }
    ring.dictionary.update(ring.cursor, mostDictionaryBytes());
    charge(ring);
    countDrops(ring);
    int most = (int) (end - ring.position);
    if (bytesUnderWay + most > mostBytesUnderWay) {
      // The rest of the pipeline's room is for other sources.
      return;
    }
    byte[] records = arrays.take(most);
    int length = ring.cursor.copy(ring.position, end, records);
    // What is copied of memory that is gone is nothing. And a fault is told late, but not later
    // than
    // a system call: the pipeline is not to be left half-way by it.
    ring.checkLength();
    ring.payload.set(ring.dictionary.strings(), ring.savedAt(end));
    if (intake.offer(NAME, records, length, ring.payload, ring.payload) == Admission.ACCEPTED) {
      ring.position = end;
      ring.bytesUnderWay = length;
      bytesUnderWay += length;
    } else {
      // There is no room for this ring's spans, so there is none for the others'.
      ring.payload.reset();
      arrays.give(records);
      pausedUntilNanos = now + RETRY_NANOS;
    }
  }

  /** Counts what its strings take by now. */
  private void charge(Ring ring) {
    long held = ring.dictionary.heldBytes() + ring.header.resourceBytes();
    dictionaryBytes += held - ring.chargedBytes;
    ring.chargedBytes = held;
  }

  /** Nothing of it is under way. */
  private void release(Ring ring) {
    bytesUnderWay -= ring.bytesUnderWay;
    ring.bytesUnderWay = 0;
  }

  /** What the writers say is believed as far as it grows. */
  private void countDrops(Ring ring) {
    long full = ring.cursor.droppedRingFull();
    long large = ring.cursor.droppedTooLarge();
    counters.droppedRingFull.add(Math.max(0, full - ring.droppedRingFull));
    counters.droppedTooLarge.add(Math.max(0, large - ring.droppedTooLarge));
    ring.droppedRingFull = full;
    ring.droppedTooLarge = large;
  }

  /** What is to be done for a ring once a second. */
  private void check(Ring ring) throws IOException, MalformedRingException {
    ring.checkLength();
    countDrops(ring);
    if (!ring.dead) {
      // What is passed over of the dead is looked through, and would have to have memory for it.
      boolean whole = files == null || files.isWhole(ring.name, ring.header.fileBytes());
      ring.checkWriters();
      if (ring.dead && !whole) {
        throw new MalformedRingException(MalformedRingException.Part.HEADER, "its file has holes");
      }
    }
  }

  /** Ends with a ring whose writers are dead and of which all is in the spool. */
  private void finish(Ring ring) throws IOException {
    // Should the file not go, nothing of it is read again.
    ring.cursor.head(ring.position);
    countDrops(ring);
    // Without a directory it is gone with it.
    if (files != null) {
      files.remove(ring.name);
    }
    drop(ring);
    if (ring.saved) {
      toForget.add(ring.name);
    }
    log.info("Finished ring {} at byte {}", ring.name, ring.position);
  }

  /** Lets go of its memory. */
  private void drop(Ring ring) {
    rings.remove(ring.name);
    mappedBytes -= ring.header.fileBytes();
    dictionaryBytes -= ring.chargedBytes;
    release(ring);
    try {
      ring.close();
    } catch (IOException e) {
      log.warn("Ring {} does not close: {}", ring.name, e.toString());
    }
  }

  private void giveUp(String name, GivenUp reason, String problem) {
    counters.giveUp(reason);
    if (givenUp.size() < MOST_GIVEN_UP) {
      givenUp.add(name);
    }
    if (givenUpLog.permits()) {
      log.warn("Ring {} is given up: {}", name, problem);
    }
  }

  private void giveUpUnexpectedly(String name, RuntimeException failure) {
    giveUp(name, GivenUp.UNEXPECTED, failure.toString());
    if (failureLog.permits()) {
      log.error("Reading ring {} failed unexpectedly", name, failure);
    }
  }

  /** True if there was such a ring. */
  private boolean giveUpWhatWasCut() {
    boolean any = false;
    for (Ring ring : List.copyOf(rings.values())) {
      boolean cut;
      try {
        cut = ring.isCut();
      } catch (IOException e) {
        cut = true;
      }
      if (cut) {
        drop(ring);
        giveUp(ring.name, GivenUp.TRUNCATED, "it was cut");
        any = true;
      }
    }
    return any;
  }

  /** Removes rings that are given up and that nobody writes any more. */
  private void tidy() {
    if (files == null) {
      return;
    }
    for (String name : givenUp.stream().limit(MOST_OPENED_AT_ONCE).toList()) {
      givenUp.remove(name);
      boolean gone = false;
      try {
        gone = files.removeIfDead(name);
      } catch (IOException e) {
        if (failureLog.permits()) {
          log.warn("Ring {} is given up and cannot be removed: {}", name, e.toString());
        }
      }
      if (gone) {
        toForget.add(name);
      } else {
        // Behind the others.
        givenUp.add(name);
      }
    }
  }

  private void removeUnfinished(List<String> names) {
    for (String name : names) {
      if (System.currentTimeMillis() - files.writtenMillis(name) > UNFINISHED_MILLIS) {
        try {
          boolean _ = files.removeIfDead(name);
        } catch (IOException e) {
          if (failureLog.permits()) {
            log.warn("{} cannot be removed: {}", name, e.toString());
          }
        }
      }
    }
  }

  /** Ends what is kept of rings that are gone, one after the other. */
  private void forgetFinished() {
    while (reading && !toForget.isEmpty()) {
      Completion forgotten = new Forgotten(toForget.peek());
      if (intake.offer(NAME, new byte[0], (payload, length, sink) -> {}, forgotten)
          != Admission.ACCEPTED) {
        return;
      }
      toForget.remove();
    }
  }

  private void measure() {
    counters.reading = rings.size();
    counters.unread = givenUp.size();
  }

  private void sleep() throws IOException {
    boolean empty = true;
    for (Ring ring : rings.values()) {
      ring.cursor.asleep(true);
    }
    for (Ring ring : rings.values()) {
      empty &= !ring.cursor.isWhole(ring.position);
    }
    boolean woken = false;
    if (empty && !stopped) {
      woken = files.awaitWake((int) TimeUnit.NANOSECONDS.toMillis(CHECK_NANOS));
    }
    for (Ring ring : rings.values()) {
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

  private void end() {
    for (Ring ring : List.copyOf(rings.values())) {
      try {
        // What was confirmed since the last look is not to be read again.
        if (ring.payload.takeOutcome() == RingPayload.Outcome.CONFIRMED) {
          ring.cursor.consume(ring.head, ring.payload.after().position());
        }
      } catch (InternalError e) {
        // Its position is in the spool.
      }
      drop(ring);
    }
    closeDirectory();
  }

  /** A payload without spans, that what is kept of a ring ends with. */
  private record Forgotten(String name) implements Completion {
    @Override
    public Note note() {
      return SavedPosition.forgotten(name);
    }

    @Override
    public void confirmed(int accepted, int rejected, String reason) {}

    @Override
    public void malformed(String reason) {}

    // The next start finds that there is no such ring.
    @Override
    public void failed(String reason) {}
  }
}
