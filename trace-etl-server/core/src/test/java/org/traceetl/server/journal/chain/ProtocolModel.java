package org.traceetl.server.journal.chain;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.traceetl.common.Clocks;
import org.traceetl.server.journal.Journal.Taken;
import org.traceetl.server.journal.JournalCounters;
import org.traceetl.server.journal.JournalLog;
import org.traceetl.server.journal.JournalLogs;
import org.traceetl.server.journal.JournalTiming;
import org.traceetl.server.journal.MemoryLogs;
import org.traceetl.server.journal.QueueJournal;
import org.traceetl.server.journal.QueueJournal.Outcome;
import org.traceetl.server.journal.Windows;
import org.traceetl.server.journal.chain.JournalReader.Visitor;
import org.traceetl.server.journal.format.ChunkFormat;
import org.traceetl.server.journal.format.RecordKind;
import org.traceetl.server.journal.format.RecordPayloads;
import org.traceetl.server.window.LastMessages;
import org.traceetl.server.window.QueueId;
import org.traceetl.server.window.SealedWindow;

/**
 * Models servers that compete for a queue and a sink that follows its journal. The log loses
 * answers, stores late, stores twice and lags; the clock leaps. The log is on a master with
 * replicas: a message is confirmed once all replicas have it and all earlier messages. A newly
 * elected master has all confirmed messages, and any part of the rest. The superseded master still
 * stores and answers reads, but confirms nothing. A master may also lose unconfirmed messages and
 * be elected again, undetected by its callers. A {@link Tape} decides every step. After each step
 * the model checks that the shown counts are exact.
 */
final class ProtocolModel {
  /** Events of a run, by which a test checks that it was not idle. */
  enum Event {
    TAKEN,
    LAST_MESSAGE_KNOWN,
    KEPT,
    FENCED,
    SNAPSHOT,
    RELEASED,
    CRASHED,
    FROZEN,
    ANSWER_LOST,
    STORED_LATE,
    STORED_TWICE,
    UNCONFIRMED,
    ELECTED,
    TAIL_LOST,
    ELECTED_AGAIN,
    SUPERSEDED_MASTER_ASKED,
    RUBBISH,
    MARK_LOST,
    DELETED,
    SHOWN,
    DELIVERED,
    SINK_CRASHED
  }

  private static final QueueId QUEUE = new QueueId("broker-a", 1);
  private static final String TOPIC = "trace-spans";
  private static final String SERVERS = "servers";
  private static final String SINK = "sink";
  private static final int SERVER_COUNT = 3;
  private static final long MILLI = 1_000_000;
  private static final Duration LEASE = Duration.ofMillis(100);

  /** Below the quarter of the lease that a new owner waits in addition to the lease. */
  private static final long MAX_LAG_NANOS = 24 * MILLI;

  /** The maximum number of readers that begin at random offsets, at the end. */
  private static final int READERS = 10;

  /** Small enough that windows and snapshots take several chunks. */
  private static final int CHUNK_BYTES = 96;

  private final Tape tape;
  private final Map<Event, Integer> events = new EnumMap<>(Event.class);
  private final ChunkFormat format = new ChunkFormat(TOPIC, QUEUE, CHUNK_BYTES);

  // The clock starts near the overflow of nanoseconds.
  private long nowNanos = Long.MAX_VALUE - 300 * MILLI;
  private long elapsedNanos;

  private record Stored(byte[] message, long visibleAtNanos) {}

  /** A copy of the log with all messages ever stored; readers see none before the log's begin. */
  private static final class Broker {
    private final List<Stored> log;

    /** The number of messages that all replicas have, as far as this broker knows. */
    private int confirmed;

    Broker(List<Stored> log, int confirmed) {
      this.log = new ArrayList<>(log);
      this.confirmed = confirmed;
    }

    byte[] message(long offset) {
      return log.get((int) offset).message();
    }
  }

  private Broker master = new Broker(List.of(), 0);

  /** The last superseded broker, which some still reach; null before the first election. */
  private Broker superseded;

  /** A message that its broker stores after its sender's timeout. */
  private record Late(Broker broker, byte[] message) {}

  private final List<Late> underWay = new ArrayList<>();
  private final Map<String, Deque<Long>> marks = new HashMap<>();
  private long begin;

  /** Whether the servers' mark names no snapshot. */
  private boolean misled;

  // A message of the span queue.
  private record Message(long sequence, long[] spans) {}

  private final List<Message> spans = new ArrayList<>();

  /** The totals of the first n messages, each batch once. */
  private final List<long[]> truths = new ArrayList<>(List.of(new long[Windows.SERIES]));

  private final List<Server> servers = new ArrayList<>();
  private Sink sink;
  private int processes;
  private long shownTo;
  private final List<List<Long>> delivered = new ArrayList<>();

  ProtocolModel(Tape tape) {
    this.tape = tape;
    send(new Message(0, new long[] {1, 1, 1}));
    marks.put(SERVERS, new ArrayDeque<>());
    marks.put(SINK, new ArrayDeque<>());
    for (int i = 0; i < SERVER_COUNT; i++) {
      servers.add(new Server());
    }
    sink = new Sink();
  }

  Map<Event, Integer> events() {
    return events;
  }

  private void met(Event event) {
    events.merge(event, 1, Integer::sum);
  }

  /** Runs the schedule, then lets one server and the sink finish undisturbed, and compares. */
  void run() throws Exception {
    try {
      while (tape.hasMore()) {
        step();
        check();
      }
      finish();
    } finally {
      servers.forEach(server -> server.task.kill());
      sink.task.kill();
    }
  }

  private void step() {
    int choice = tape.next(256);
    if (choice < 192) {
      Server server = servers.get(choice % SERVER_COUNT);
      if (!server.frozen) {
        server.task.step();
      }
    } else if (choice < 210) {
      sink.task.step();
    } else if (choice < 220) {
      produce();
    } else if (choice < 228) {
      advance(tape.next(20) * MILLI);
    } else {
      switch (choice) {
        case 228 -> advance(tape.next(200) * MILLI);
        case 229, 246, 247, 248 -> elect();
        case 230, 231 -> freeze();
        case 232, 233, 234, 235, 236, 237 -> thaw();
        case 238 -> crash(tape.next(SERVER_COUNT));
        case 239 -> crashSink();
        case 240, 241 -> rubbish();
        case 242 -> {
          if (tape.next(2) == 0) {
            loseMark();
          } else {
            delete();
          }
        }
        case 243, 244, 249, 250, 251, 252 -> delete();
        case 245 -> repeat();
        default -> storeLate();
      }
    }
  }

  private void advance(long nanos) {
    nowNanos += nanos;
    elapsedNanos += nanos;
  }

  private void produce() {
    if (tape.next(4) == 3) {
      sendAgain(spans.get(tape.next(Math.min(256, spans.size()))));
    } else {
      long[] counts = new long[Windows.SERIES];
      Arrays.setAll(counts, series -> tape.next(4));
      send(new Message(spans.size(), counts));
    }
  }

  private void send(Message message) {
    spans.add(message);
    long[] truth = truths.getLast().clone();
    Arrays.setAll(truth, series -> truth[series] + message.spans()[series]);
    truths.add(truth);
  }

  private void sendAgain(Message message) {
    spans.add(message);
    truths.add(truths.getLast());
  }

  private void freeze() {
    met(Event.FROZEN);
    servers.get(tape.next(SERVER_COUNT)).frozen = true;
  }

  private void thaw() {
    servers.get(tape.next(SERVER_COUNT)).frozen = false;
  }

  private void crash(int number) {
    met(Event.CRASHED);
    servers.get(number).task.kill();
    servers.set(number, new Server());
  }

  private void crashSink() {
    met(Event.SINK_CRASHED);
    sink.task.kill();
    sink = new Sink();
  }

  private void storeLate() {
    if (!underWay.isEmpty()) {
      met(Event.STORED_LATE);
      Late late = underWay.remove(tape.next(underWay.size()));
      store(late.broker(), late.message());
    }
  }

  private void elect() {
    met(Event.ELECTED);
    int unconfirmed = master.log.size() - master.confirmed;
    int kept = master.confirmed + tape.next(Math.min(256, unconfirmed + 1));
    if (kept < master.log.size()) {
      met(Event.TAIL_LOST);
    }
    if (tape.next(4) == 0) {
      electAgain(kept);
      return;
    }
    superseded = master;
    master = new Broker(master.log.subList(0, kept), master.confirmed);
  }

  /**
   * Elects the master again after another master that had only this part and received repeats of
   * older messages. Callers of the first master do not detect it.
   */
  private void electAgain(int kept) {
    met(Event.ELECTED_AGAIN);
    int lost = master.log.size() - kept;
    master.log.subList(kept, master.log.size()).clear();
    for (int i = 0; i < lost && kept > 0; i++) {
      store(master.message(tape.next(Math.min(256, kept))));
    }
    master.confirmed = master.log.size();
  }

  private void rubbish() {
    met(Event.RUBBISH);
    byte[] message = new byte[tape.next(8)];
    if (!master.log.isEmpty()) {
      message = master.message(tape.next(Math.min(256, master.log.size()))).clone();
      int kind = tape.next(3);
      if (kind == 0) {
        message = Arrays.copyOf(message, tape.next(256));
      } else if (message.length > 0) {
        message[tape.next(Math.min(256, message.length))] ^= (byte) (1 << tape.next(8));
      }
    }
    store(message);
  }

  /** Stores a message again, as a client does that retries late. */
  private void repeat() {
    if (!master.log.isEmpty()) {
      met(Event.STORED_TWICE);
      int back = tape.next(Math.min(256, master.log.size()));
      store(master.message(master.log.size() - 1L - back));
    }
  }

  /** Loses marks, as a broker that crashes before it writes its offsets, or an operator's error. */
  private void loseMark() {
    Deque<Long> servers = marks.get(SERVERS);
    Deque<Long> sinks = marks.get(SINK);
    switch (tape.next(3)) {
      case 0 -> servers.pollLast();
      case 1 -> {
        // Marked messages may be deleted: only a mark then tells the sink that it has read them.
        if (sinks.size() > 1) {
          sinks.removeLast();
        }
      }
      default -> {
        misled = true;
        servers.clear();
        servers.add(begin + tape.next(256));
      }
    }
    met(Event.MARK_LOST);
  }

  private void delete() {
    long to = Math.min(mark(SERVERS), mark(SINK));
    if (to > begin && !misled) {
      met(Event.DELETED);
      begin = to;
      marks.values().forEach(marked -> marked.removeIf(offset -> offset < begin));
    }
  }

  private long store(byte[] message) {
    return store(master, message);
  }

  private long store(Broker broker, byte[] message) {
    long lag = tape.next(4) == 0 ? tape.next(25) * MAX_LAG_NANOS / 25 : 0;
    broker.log.add(new Stored(message, elapsedNanos + lag));
    return broker.log.size() - 1L;
  }

  private long mark(String group) {
    Deque<Long> marked = marks.get(group);
    return marked.isEmpty() ? JournalLog.NONE : marked.getLast();
  }

  private long visibleEnd(Broker broker, int limit) {
    int end = limit;
    for (int offset = limit - 1; offset >= 0; offset--) {
      if (broker.log.get(offset).visibleAtNanos() > elapsedNanos) {
        end = offset;
      }
    }
    return Math.max(begin, end);
  }

  /** The log as seen by one process. */
  private final class Log implements JournalLog {
    private static final int MAX_READ = 3;

    private final Actor actor;

    /** The broker that receives calls; null after a failure. */
    private Broker broker;

    Log(Actor actor) {
      this.actor = actor;
    }

    /** Pauses, and returns the broker that this process considers the master. */
    private Broker call() throws IOException {
      actor.pause();
      if (broker == null) {
        broker = superseded != null && tape.next(4) == 3 ? superseded : master;
      } else if (broker != master && tape.next(16) == 0) {
        throw failed("the master is another one");
      }
      if (broker != master) {
        met(Event.SUPERSEDED_MASTER_ASKED);
      }
      return broker;
    }

    private IOException failed(String why) {
      broker = null;
      return new IOException(why);
    }

    @Override
    public long append(byte[] message) throws IOException {
      Broker asked = call();
      if (asked != master) {
        met(Event.UNCONFIRMED);
        store(asked, message);
        throw failed("not confirmed");
      }
      int fate = tape.next(32);
      switch (fate) {
        case 31 -> {
          met(Event.ANSWER_LOST);
          store(message);
          actor.pause();
          throw failed("no answer");
        }
        case 30 -> {
          met(Event.ANSWER_LOST);
          throw failed("not sent");
        }
        case 28, 29 -> {
          met(Event.ANSWER_LOST);
          underWay.add(new Late(asked, message));
          throw failed("on its way");
        }
        case 27 -> {
          met(Event.STORED_TWICE);
          store(message);
          actor.pause();
        }
        case 24, 25, 26 -> {
          met(Event.UNCONFIRMED);
          store(message);
          actor.pause();
          throw failed("not confirmed");
        }
        default -> {
          // The message is stored once, below.
        }
      }
      long offset = store(asked, message);
      if (asked != master) {
        throw failed("not confirmed");
      }
      asked.confirmed = asked.log.size();
      actor.pause();
      return offset;
    }

    @Override
    public List<Entry> read(long from) throws IOException {
      Broker asked = call();
      List<Entry> entries = new ArrayList<>();
      long end = visibleEnd(asked, actor.visible(asked));
      for (long offset = Math.max(from, begin);
          offset < end && entries.size() < MAX_READ;
          offset++) {
        entries.add(new Entry(offset, asked.message(offset)));
      }
      return entries;
    }

    @Override
    public long begin() {
      return begin;
    }

    @Override
    public long end() throws IOException {
      Broker asked = call();
      long end = visibleEnd(asked, actor.visible(asked));
      actor.pause();
      return end;
    }

    /** The model's sink never begins at a time. */
    @Override
    public long offsetAt(long unixMillis) {
      throw new UnsupportedOperationException();
    }

    @Override
    public long mark(String group) {
      return ProtocolModel.this.mark(group);
    }

    @Override
    public void mark(String group, long offset) {
      actor.pause();
      if (group.equals(SERVERS) && misled) {
        marks.get(group).clear();
        misled = false;
      }
      marks.get(group).add(offset);
    }
  }

  /** A process whose memory is lost in a crash. */
  private abstract class Actor implements JournalLogs {
    final JournalCounters counters = new JournalCounters();
    final LogJournals journals =
        new LogJournals(
            this,
            TOPIC,
            SERVERS,
            Windows::newImage,
            new JournalTiming(
                new Clocks(
                    () -> nowNanos,
                    () -> Instant.ofEpochMilli(1_800_000_000_000L + elapsedNanos / MILLI),
                    this::sleep),
                new Random(processes++),
                LEASE,
                Duration.ofMillis(500)),
            counters,
            CHUNK_BYTES);
    final Task task = new Task(this::live);
    boolean frozen;

    abstract void live() throws Exception;

    /** Returns how many messages of a broker it may read. */
    int visible(Broker broker) {
      return broker.log.size();
    }

    void pause() {
      task.pause();
    }

    private void sleep(long nanos) {
      advance(nanos);
      pause();
    }

    @Override
    public JournalLog open(QueueId queue) {
      return new Log(this);
    }

    @Override
    public void close() {}
  }

  private final class Server extends Actor {
    /** Null until it has taken the queue. */
    private Taken taken;

    private final long[] totals = new long[Windows.SERIES];
    private boolean created;
    private LastMessages lastMessages = LastMessages.NONE;
    private long to;

    @Override
    void live() throws Exception {
      while (true) {
        try {
          Taken next = journals.take(QUEUE);
          begin(next);
          own();
        } catch (IOException e) {
          // Take the queue again.
        }
        taken = null;
        rest();
      }
    }

    /**
     * Pauses: mostly long, so that another server owns the queue; sometimes all compete at once.
     */
    private void rest() {
      int pauses = tape.next(4) == 0 ? 1 : tape.next(256);
      for (int i = 0; i < pauses; i++) {
        pause();
      }
    }

    private void begin(Taken next) {
      met(Event.TAKEN);
      created = next.image().slots() > 0;
      System.arraycopy(Windows.totals(next.image()), 0, totals, 0, totals.length);
      to = Math.max(0, next.image().to());
      taken = next;
      checkLastMessages();
    }

    private void own() throws IOException, InterruptedException {
      while (true) {
        int choice = tape.next(16);
        Outcome outcome =
            switch (choice) {
              case 10, 11, 12 -> snapshot();
              case 13, 14 -> renew();
              case 15 -> release();
              default -> append();
            };
        if (outcome == Outcome.FENCED) {
          return;
        }
        pause();
      }
    }

    private Outcome append() throws InterruptedException {
      final SealedWindow window = seal();
      if (window.to() > 0) {
        lastMessages =
            lastMessages.with(window.to(), checksum(window.to()), LastMessages.MAX_WINDOWS);
      }
      Outcome outcome = null;
      while (outcome == null) {
        try {
          outcome = taken.journal().append(window, lastMessages);
        } catch (IOException e) {
          pause();
        }
      }
      if (outcome == Outcome.KEPT) {
        met(Event.KEPT);
        created = true;
        to = window.to();
        for (int row = 0; row < window.rows(); row++) {
          totals[row] += window.counts()[row];
        }
      } else {
        met(Event.FENCED);
      }
      return outcome;
    }

    /** Checks that the known last messages are within the counted ones, and equal those read. */
    private void checkLastMessages() {
      lastMessages = taken.lastMessages();
      for (int place = 0; place < lastMessages.size(); place++) {
        assertThat(lastMessages.end(place)).isLessThanOrEqualTo(to);
        assertThat(lastMessages.checksum(place)).isEqualTo(checksum(lastMessages.end(place)));
      }
      if (!lastMessages.isEmpty() && lastMessages.lastEnd() == to) {
        met(Event.LAST_MESSAGE_KNOWN);
      }
    }

    private static int checksum(long end) {
      return (int) (end * 0x9E37_79B9L);
    }

    private SealedWindow seal() {
      // Undisturbed, a window takes all remaining messages.
      long end = Math.min(spans.size(), to + (tape.hasMore() ? tape.next(4) : spans.size()));
      long[] counts = new long[Windows.SERIES];
      for (long offset = to; offset < end; offset++) {
        Message message = spans.get((int) offset);
        if (taken.image().history().isFirst(1, 2, 0, message.sequence(), 0)) {
          Arrays.setAll(counts, series -> counts[series] + message.spans()[series]);
        }
      }
      return Windows.window(
          QUEUE, to, end, taken.image().history().takeAccepted().take(), !created, counts);
    }

    private Outcome renew() throws InterruptedException {
      try {
        return taken.journal().renew();
      } catch (IOException e) {
        return Outcome.KEPT;
      }
    }

    private Outcome snapshot() throws InterruptedException {
      try {
        long before = counters.snapshots();
        Outcome outcome = taken.journal().snapshot();
        if (counters.snapshots() > before) {
          met(Event.SNAPSHOT);
        }
        return outcome;
      } catch (IOException e) {
        return Outcome.KEPT;
      }
    }

    private Outcome release() throws InterruptedException {
      QueueJournal journal = taken.journal();
      taken = null;
      met(Event.RELEASED);
      try {
        journal.release();
      } catch (IOException e) {
        // The next owner waits.
      }
      return Outcome.FENCED;
    }

    @Override
    public String toString() {
      return taken.journal() + ", shown from " + taken.showFromNanos();
    }

    boolean shows() {
      return taken != null
          && nowNanos - taken.showFromNanos() >= 0
          && nowNanos - taken.journal().shownUntilNanos() < 0;
    }
  }

  private final class Sink extends Actor {
    private final List<Long> windows = new ArrayList<>();

    Sink() {
      delivered.add(windows);
    }

    /** Brokers show confirmed messages to readers. Owners do not rely on it. */
    @Override
    int visible(Broker broker) {
      return broker.confirmed;
    }

    @Override
    void live() throws Exception {
      JournalTail tail = journals.tail(QUEUE, SINK);
      while (true) {
        try {
          step(tail);
        } catch (IOException e) {
          // Try again.
        }
        pause();
      }
    }

    private void step(JournalTail tail) throws IOException, InterruptedException {
      for (JournalTail.Kept kept : tail.poll()) {
        met(Event.DELIVERED);
        windows.add(kept.offset());
        if (tape.next(4) == 3) {
          tail.mark(kept.offset());
        }
      }
      if (tape.next(8) == 7 && tail.restart() != JournalLog.NONE) {
        tail.mark(tail.restart());
      }
    }
  }

  /** Returns the totals of the span queue up to an offset, each batch once. */
  private long[] truth(long to) {
    return truths.get((int) to);
  }

  /**
   * Checks that at most one server shows the queue, and that its counts are exact and never fall.
   */
  private void check() {
    Server showing = null;
    for (Server server : servers) {
      if (server.shows()) {
        if (showing != null) {
          throw new AssertionError(
              "two servers show the queue at " + nowNanos + ": " + showing + " and " + server);
        }
        showing = server;
      }
    }
    if (showing != null) {
      met(Event.SHOWN);
      if (showing.to < shownTo || !Arrays.equals(showing.totals, truth(showing.to))) {
        throw new AssertionError(
            Arrays.toString(showing.totals)
                + " is shown up to "
                + showing.to
                + " instead of "
                + Arrays.toString(truth(showing.to))
                + "; before, up to "
                + shownTo);
      }
      shownTo = showing.to;
    }
  }

  private void finish() throws Exception {
    for (int number = 0; number < SERVER_COUNT; number++) {
      crash(number);
    }
    underWay.forEach(late -> store(late.broker(), late.message()));
    underWay.clear();
    advance(MAX_LAG_NANOS);
    Server last = servers.getFirst();
    for (int steps = 0; last.taken == null || last.to < spans.size(); steps++) {
      assertThat(steps).as("steps to the end of the spans").isLessThan(100_000);
      last.task.step();
      check();
    }
    compare(last);
  }

  /** Checks that reading the log from any offset gives the same state. */
  private void compare(Server last) throws Exception {
    MemoryLogs.MemoryLog log = new MemoryLogs.MemoryLog();
    master.log.forEach(stored -> log.store(stored.message()));
    List<Long> windows = new ArrayList<>();
    List<Long> snapshots = new ArrayList<>();
    ReplayedState whole =
        new ReplayedState(QUEUE, new RecordPayloads(Windows::newImage), new JournalCounters());
    JournalReader reader =
        new JournalReader(log, format, new JournalCounters(), 0, JournalChain.FRESH);
    readAll(
        reader,
        (record, before) -> {
          whole.counts(record, before);
          if (record.header().kind() == RecordKind.WINDOW) {
            windows.add(record.first());
          } else if (record.header().kind() == RecordKind.SNAPSHOT) {
            snapshots.add(record.first());
          }
        });

    assertThat(whole.image().to()).isEqualTo(last.to);
    assertThat(Windows.totals(whole.image())).isEqualTo(truth(spans.size()));
    assertThat(last.totals).isEqualTo(truth(spans.size()));
    int size = master.log.size();
    int stride = 1 + size / READERS;
    for (long offset = size % stride; offset < size; offset += stride) {
      compareFrom(offset, log, reader.chain());
    }
    for (long snapshot : snapshots) {
      assertThat(compareFrom(snapshot, log, reader.chain())).isTrue();
    }
    for (int number = 0; number < windows.size(); number++) {
      List<Long> rest = new ArrayList<>();
      JournalReader behind =
          JournalReader.behind(windows.get(number), log, format, new JournalCounters());
      readAll(
          behind,
          (record, before) -> {
            if (record.header().kind() == RecordKind.WINDOW) {
              rest.add(record.first());
            }
          });
      assertThat(rest).isEqualTo(windows.subList(number + 1, windows.size()));
    }
    compareSink(windows);
  }

  /** Returns whether a reader that starts at the offset becomes certain; then it must be right. */
  private boolean compareFrom(long offset, JournalLog log, JournalChain chain) throws Exception {
    ReplayedState part =
        new ReplayedState(QUEUE, new RecordPayloads(Windows::newImage), new JournalCounters());
    JournalReader behind =
        new JournalReader(log, format, new JournalCounters(), offset, JournalChain.UNKNOWN);
    readAll(behind, part);
    if (behind.chain().sure()) {
      assertThat(behind.chain()).as("from %d", offset).isEqualTo(chain);
      assertThat(Windows.totals(part.image())).isEqualTo(truth(spans.size()));
    }
    return behind.chain().sure();
  }

  private static void readAll(JournalReader reader, Visitor visitor) throws Exception {
    while (reader.advance(Long.MAX_VALUE, visitor)) {
      // Continue.
    }
  }

  /**
   * Checks that the sink received each window once, and nothing else, in order since its last
   * crash. If a superseded master ends before the sink's mark, the sink begins again at the log's
   * begin. Messages that it has already read may then be deleted before it reaches them again.
   */
  private void compareSink(List<Long> windows) {
    for (int steps = 0; steps < 2 * master.log.size(); steps++) {
      sink.task.step();
    }
    Set<Long> told = new HashSet<>();
    for (List<Long> life : delivered) {
      if (!life.isEmpty()) {
        List<Long> expected =
            new ArrayList<>(windows.subList(indexOf(life.getFirst(), windows), windows.size()));
        expected.removeIf(
            window -> !life.contains(window) && window < begin && told.contains(window));
        assertThat(life).isEqualTo(expected.subList(0, Math.min(life.size(), expected.size())));
        told.addAll(life);
      }
    }
    assertThat(told).containsExactlyInAnyOrderElementsOf(windows);
  }

  private static int indexOf(long window, List<Long> windows) {
    int index = windows.indexOf(window);
    assertThat(index).as("%d in %s", window, windows).isNotNegative();
    return index;
  }
}
