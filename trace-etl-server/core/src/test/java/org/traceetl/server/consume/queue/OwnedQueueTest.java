package org.traceetl.server.consume.queue;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.LongStream;
import org.apache.rocketmq.client.exception.MQClientException;
import org.apache.rocketmq.common.message.MessageAccessor;
import org.apache.rocketmq.common.message.MessageConst;
import org.apache.rocketmq.common.message.MessageExt;
import org.apache.rocketmq.common.message.MessageQueue;
import org.junit.jupiter.api.Test;
import org.traceetl.proto.BatchAges;
import org.traceetl.proto.BundleWriter;
import org.traceetl.proto.Heartbeat;
import org.traceetl.server.consume.broker.BrokerOffsets;
import org.traceetl.server.consume.broker.BrokerOffsets.Range;
import org.traceetl.server.consume.metrics.SpanPipelineMetrics;
import org.traceetl.server.consume.queue.OwnedQueue.Outcome;
import org.traceetl.server.journal.QueueImage;
import org.traceetl.server.journal.format.RecordPayloads;
import org.traceetl.server.journal.format.WindowFormat;
import org.traceetl.server.window.LastMessages;
import org.traceetl.server.window.QueueId;
import org.traceetl.server.window.SealedWindow;
import org.traceetl.server.window.WindowCompleteness;
import org.traceetl.server.window.WindowPanes;

class OwnedQueueTest {
  private static final QueueId ID = new QueueId("b", 0);

  private static final long PANE_MILLIS = 15_000;

  private int malformedAges;
  private int withoutAge;
  private final List<Boolean> heartbeats = new ArrayList<>();
  private final List<Long> skipped = new ArrayList<>();
  private final List<Long> replaced = new ArrayList<>();
  private final SpanPipelineMetrics listener =
      new SpanPipelineMetrics() {
        @Override
        public void malformedAges() {
          malformedAges++;
        }

        @Override
        public void withoutAge() {
          withoutAge++;
        }

        @Override
        public void heartbeat(boolean isRead) {
          heartbeats.add(isRead);
        }

        @Override
        public void skipped(QueueId queue, long messages) {
          skipped.add(messages);
        }

        @Override
        public void replaced(QueueId queue, long messages) {
          replaced.add(messages);
        }
      };

  /** Offsets at which pulling continued after a pull without an answer. */
  private final Set<Long> resumed = new HashSet<>();

  private final Aggregation aggregation = Aggregation.builder(() -> 1).build();
  private final OwnedQueue queue =
      new OwnedQueue(
          ID,
          new MessageQueue("t", "b", 0),
          aggregation.newAggregator(ID, aggregation.newDecoder(), listener),
          listener,
          10,
          LastMessages.NONE,
          resumed::contains,
          Set.of(),
          new PaneLag(15_000));

  private static MessageExt message(long offset, long min, long max) {
    MessageExt message = new MessageExt();
    message.setQueueOffset(offset);
    message.setStoreHost(new InetSocketAddress("127.0.0.1", 1));
    message.setBody(new BatchMessage("shop").span("a", 1).message(offset));
    MessageAccessor.putProperty(message, MessageConst.PROPERTY_MIN_OFFSET, Long.toString(min));
    MessageAccessor.putProperty(message, MessageConst.PROPERTY_MAX_OFFSET, Long.toString(max));
    return message;
  }

  private static List<MessageExt> messages(long min, long max, long... offsets) {
    List<MessageExt> messages = new ArrayList<>();
    for (long offset : offsets) {
      messages.add(message(offset, min, max));
    }
    return messages;
  }

  private long recorded() {
    SealedWindow window = queue.swap(1_000).seal();
    return window.books().getFirst().recorded();
  }

  @Test
  void messagesAreTakenInTheOrderOfTheirOffsets() {
    assertThat(queue.take(messages(0, 15, 10, 11, 12), 0)).isEqualTo(Outcome.TAKEN);

    assertThat(queue.status().next()).isEqualTo(13);
    assertThat(queue.status().lag()).isEqualTo(2);
    assertThat(recorded()).isEqualTo(3);
  }

  private static MessageExt bundle(long offset, long... sequences) {
    BundleWriter bundle = new BundleWriter();
    bundle.begin();
    for (long sequence : sequences) {
      bundle.add(new BatchMessage("shop").span("a", 1).message(sequence));
    }
    MessageExt message = message(offset, 0, 15);
    message.setBody(bundle.finish());
    return message;
  }

  @Test
  void aBundleIsOneMessageWithSeveralBatches() {
    assertThat(queue.take(List.of(message(10, 0, 15), bundle(11, 10, 20, 21)), 0))
        .isEqualTo(Outcome.TAKEN);
    assertThat(queue.take(List.of(bundle(12, 21, 22)), 0)).isEqualTo(Outcome.TAKEN);

    assertThat(queue.next()).isEqualTo(13);
    SealedWindow window = queue.swap(1_000).seal();
    assertThat(window.to()).isEqualTo(13);
    assertThat(window.books().getFirst().recorded()).isEqualTo(4);
    assertThat(window.books().getFirst().duplicate()).isEqualTo(2);
  }

  @Test
  void aRefusedBundleIsRejectedWithAllItsBatches() {
    OwnedQueue refusing =
        new OwnedQueue(
            ID,
            new MessageQueue("t", "b", 0),
            aggregation.newAggregator(ID, aggregation.newDecoder(), listener),
            listener,
            10,
            LastMessages.NONE,
            resumed::contains,
            Set.of(11L),
            new PaneLag(15_000));

    assertThat(refusing.take(List.of(message(10, 0, 15), bundle(11, 20, 21)), 0))
        .isEqualTo(Outcome.TAKEN);
    SealedWindow window = refusing.swap(1_000).seal();
    assertThat(window.books().getFirst().recorded()).isEqualTo(1);
    assertThat(window.books().getFirst().rejected()).isEqualTo(Map.of("internal", 2L));
  }

  @Test
  void messagesPulledTwiceAreTakenOnce() {
    queue.take(messages(0, 15, 10, 11), 0);
    assertThat(queue.take(messages(0, 15, 10, 11, 12), 0)).isEqualTo(Outcome.TAKEN);

    assertThat(queue.next()).isEqualTo(13);
    assertThat(recorded()).isEqualTo(3);
    assertThat(replaced).isEmpty();
  }

  /** Returns different messages with the given offsets, as a broker sends after losing its own. */
  private static List<MessageExt> others(long max, long... offsets) {
    List<MessageExt> messages = messages(0, max, offsets);
    for (MessageExt message : messages) {
      message.setBody(
          new BatchMessage("shop").span("a", 1).message(1_000_000 + message.getQueueOffset()));
    }
    return messages;
  }

  @Test
  void messagesThatTheBrokerHasInPlaceOfLostOnesAreRead() throws Exception {
    queue.take(messages(0, 14, 10), 0);
    queue.take(messages(0, 14, 11, 12, 13), 0);

    assertThat(queue.take(others(20, 11, 12), 0)).isEqualTo(Outcome.TAKEN);
    assertThat(queue.take(others(20, 13, 14), 0)).isEqualTo(Outcome.REWIND);
    comparedWith(new Broker(0, 20, 11));
    assertThat(queue.next()).isEqualTo(11);
    assertThat(queue.take(others(20, 11, 12, 13, 14), 0)).isEqualTo(Outcome.TAKEN);

    assertThat(replaced).containsExactly(3L);
    assertThat(queue.next()).isEqualTo(15);
    assertThat(recorded()).isEqualTo(8);
  }

  @Test
  void messagesReadAgainAfterALossCountOnce() throws Exception {
    queue.take(messages(0, 14, 10, 11, 12, 13), 0);

    assertThat(queue.take(messages(0, 20, 10, 11, 12), 0)).isEqualTo(Outcome.TAKEN);
    assertThat(queue.take(others(20, 13), 0)).isEqualTo(Outcome.REWIND);
    comparedWith(new Broker(0, 20, 13));
    queue.take(messages(0, 20, 10, 11, 12), 0);
    queue.take(others(20, 13), 0);

    assertThat(replaced).containsExactly(4L);
    assertThat(recorded()).isEqualTo(5);
  }

  /**
   * A broker that lost its messages from an offset on, and then received others.
   *
   * @param changed offset of the first different message
   * @param hole offset without a message
   */
  private record Broker(long min, long max, long changed, long hole) implements BrokerOffsets {
    Broker(long min, long max, long changed) {
      this(min, max, changed, NONE);
    }

    @Override
    public Range of(MessageQueue queue) {
      return new Range(min, max, NONE);
    }

    @Override
    public MessageExt message(MessageQueue queue, long offset) {
      assertThat(offset).isBetween(min, max - 1);
      if (offset == hole) {
        return null;
      }
      return (offset < changed ? messages(min, max, offset) : others(max, offset)).getFirst();
    }

    @Override
    public String address(MessageQueue queue) {
      return "127.0.0.1:1";
    }

    @Override
    public long max(MessageQueue queue) {
      return max;
    }

    @Override
    public long committed(MessageQueue queue) {
      return NONE;
    }

    @Override
    public void commit(MessageQueue queue, long offset) {}
  }

  private void comparedWith(Broker broker) throws MQClientException {
    comparedWith(queue, broker);
  }

  private static void comparedWith(OwnedQueue queue, Broker broker) throws MQClientException {
    queue.compare(broker.of(null), broker);
    queue.rewound(broker.of(null), broker);
  }

  private OwnedQueue queueWhoseWindowEndedAt(long... ends) {
    return queueFrom(ends[ends.length - 1], ends);
  }

  private OwnedQueue queueFrom(long next, long... ends) {
    LastMessages read = LastMessages.NONE;
    for (long end : ends) {
      read = read.with(end, MessageIdentity.of(message(end - 1, 0, end)), 32);
    }
    return new OwnedQueue(
        ID,
        new MessageQueue("t", "b", 0),
        aggregation.newAggregator(ID, aggregation.newDecoder(), listener),
        listener,
        next,
        read,
        resumed::contains,
        Set.of(),
        new PaneLag(15_000));
  }

  @Test
  void messagesThatTookThePlaceOfLostOnesBeforeTheTakeAreRead() throws Exception {
    for (long changed = 3; changed < 10; changed++) {
      OwnedQueue queue = queueWhoseWindowEndedAt(2, 4, 6, 8, 10);

      queue.compare(new Range(0, 20, 10), new Broker(0, 20, changed));

      assertThat(queue.next()).as("from %d on", changed).isEqualTo(changed / 2 * 2);
    }
    assertThat(replaced).containsExactly(8L, 6L, 6L, 4L, 4L, 2L, 2L);
  }

  @Test
  void aQueueWhoseLastMessageIsUnchangedIsReadOn() throws Exception {
    OwnedQueue queue = queueWhoseWindowEndedAt(4, 10);

    queue.compare(new Range(0, 20, 10), new Broker(0, 20, 10));

    assertThat(queue.next()).isEqualTo(10);
    assertThat(replaced).isEmpty();
  }

  @Test
  void aQueueWhoseLastMessageWasDeletedByRetentionIsReadOn() throws Exception {
    OwnedQueue queue = queueWhoseWindowEndedAt(4, 10);

    queue.compare(new Range(10, 20, 10), new Broker(10, 20, 10));

    assertThat(queue.next()).isEqualTo(10);
    assertThat(replaced).isEmpty();
  }

  @Test
  void aBrokerThatHasNothingOfWhatWasReadIsReadFromItsOldestMessage() throws Exception {
    OwnedQueue queue = queueWhoseWindowEndedAt(4, 10);

    queue.compare(new Range(5, 20, 10), new Broker(5, 20, 5));

    assertThat(queue.next()).isEqualTo(5);
    assertThat(replaced).containsExactly(5L);
  }

  @Test
  void aBrokerThatEndsBeforeWhatWasReadIsComparedWhereItHasMessages() throws Exception {
    OwnedQueue queue = queueWhoseWindowEndedAt(4, 6, 10);

    queue.compare(new Range(0, 7, 10), new Broker(0, 7, 6));

    assertThat(queue.next()).isEqualTo(6);
    assertThat(replaced).containsExactly(4L);
  }

  @Test
  void messagesAreComparedWhereAPullWentOnAfterOneWithoutAnAnswer() throws Exception {
    queue.take(messages(0, 12, 10, 11), 0);
    resumed.add(12L);

    assertThat(queue.take(others(20, 12, 13), 0)).isEqualTo(Outcome.REWIND);
    comparedWith(new Broker(0, 20, 11));
    resumed.clear();
    assertThat(queue.next()).isEqualTo(10);
    queue.take(messages(0, 20, 10), 0);
    queue.take(others(20, 11, 12, 13), 0);

    assertThat(replaced).containsExactly(2L);
    assertThat(recorded()).isEqualTo(5);
  }

  @Test
  void messagesAreComparedOnceWhereAnotherMasterStoredTheNextOne() throws Exception {
    queue.take(messages(0, 12, 10, 11), 0);
    List<MessageExt> promoted = messages(0, 20, 12, 13);
    promoted.forEach(message -> message.setStoreHost(new InetSocketAddress("127.0.0.2", 1)));
    queue.take(messages(0, 12, 10, 11), 0);

    assertThat(queue.take(promoted, 0)).isEqualTo(Outcome.REWIND);
    comparedWith(new Broker(0, 20, 20));
    assertThat(queue.take(promoted, 0)).isEqualTo(Outcome.TAKEN);

    assertThat(replaced).isEmpty();
    assertThat(recorded()).isEqualTo(4);
  }

  @Test
  void aBatchThatIsSentAgainToItsOffsetIsNotTheOneThatWasRead() {
    MessageExt first = message(10, 0, 11);
    MessageExt later = message(10, 0, 11);
    later.setStoreTimestamp(first.getStoreTimestamp() + 1);
    MessageExt elsewhere = message(10, 0, 11);
    elsewhere.setStoreHost(new InetSocketAddress("127.0.0.1", 2));
    MessageExt other = others(11, 10).getFirst();

    assertThat(MessageIdentity.of(message(10, 3, 20))).isEqualTo(MessageIdentity.of(first));
    assertThat(List.of(later, elsewhere, other))
        .allMatch(message -> MessageIdentity.of(message) != MessageIdentity.of(first));
  }

  @Test
  void aWindowIsKeptWithTheLastMessagesOfTheNewestOnes() {
    OwnedQueue queue = queueWhoseWindowEndedAt(4, 10);
    queue.take(messages(0, 20, 10, 11), 0);
    queue.swap(1_000);

    LastMessages read = queue.lastMessages();
    assertThat(read.size()).isEqualTo(3);
    assertThat(read.lastEnd()).isEqualTo(12);
    assertThat(read.checksum(2)).isEqualTo(MessageIdentity.of(message(11, 0, 0)));
  }

  @Test
  void endsOfWindowsThatEndEarlyLeaveRoomForThoseOfMinutes() {
    OwnedQueue queue = queueWhoseWindowEndedAt(4, 10);
    long offset = 10;
    for (int window = 1; window <= 3; window++) {
      queue.take(messages(0, 20, offset++), 0);
      giveBack(queue.swapEarly(1_000));
      // The next owner compares from the end of the newest window that is kept.
      assertThat(queue.lastMessages().upTo(offset - 1).lastEnd()).isEqualTo(offset - 1);
    }
    assertThat(queue.lastMessages()).hasToString("[4, 10, 12, 13]");
    queue.take(messages(0, 20, offset++), 0);
    giveBack(queue.swap(1_000));
    assertThat(queue.lastMessages()).hasToString("[4, 10, 13, 14]");
    queue.take(messages(0, 20, offset), 0);
    giveBack(queue.swap(1_000));
    assertThat(queue.lastMessages()).hasToString("[4, 10, 14, 15]");
  }

  private static void giveBack(FilledWindow filled) {
    filled.seal();
    filled.giveBack();
  }

  @Test
  void aBatchCountsWhenItsAgentAcceptedItByTheBrokersClock() {
    aggregation.panes(true);
    List<MessageExt> messages = messages(0, 20, 10, 11, 12, 13);
    messages.forEach(message -> message.setStoreTimestamp(100 * PANE_MILLIS));
    messages.getFirst().putUserProperty(BatchAges.PROPERTY, Long.toString(7 * PANE_MILLIS));
    messages.get(1).putUserProperty(BatchAges.PROPERTY, "1;" + "x".repeat(10_000));
    messages.get(2).putUserProperty(BatchAges.PROPERTY, "1520,");

    assertThat(queue.take(messages, 100 * PANE_MILLIS)).isEqualTo(Outcome.TAKEN);

    WindowPanes panes = queue.swap(100 * PANE_MILLIS).seal().panes();
    // The second was accepted just before pane 100, and the others count in it.
    assertThat(
            LongStream.concat(
                LongStream.of(panes.mainMillis()),
                panes.others().stream().mapToLong(WindowPanes.Pane::startMillis)))
        .containsExactlyInAnyOrder(93 * PANE_MILLIS, 99 * PANE_MILLIS, 100 * PANE_MILLIS);
    assertThat(malformedAges).isEqualTo(1);
    assertThat(withoutAge).isEqualTo(1);
  }

  /** Returns a message with these ages, stored in a pane. */
  private static MessageExt stored(long offset, long pane, String ages) {
    MessageExt message = message(offset, 0, 20);
    message.setStoreTimestamp(pane * PANE_MILLIS);
    message.putUserProperty(BatchAges.PROPERTY, ages);
    return message;
  }

  private static MessageExt heartbeat(long offset, long pane, String ages, boolean goodbye) {
    MessageExt message = stored(offset, pane, ages);
    message.setBody(new Heartbeat(1, 0, 1, goodbye, "web-1").encode());
    return message;
  }

  @Test
  void aHeartbeatIsNoBatch() {
    aggregation.panes(true);
    queue.take(
        List.of(
            stored(10, 100, "0;"),
            stored(11, 100, "0;2000"),
            heartbeat(12, 102, ";7000", false),
            heartbeat(13, 103, "x", false)),
        100 * PANE_MILLIS);

    SealedWindow window = queue.swap(104 * PANE_MILLIS).seal();
    assertThat(window.to()).isEqualTo(14);
    assertThat(window.books()).hasSize(1);
    assertThat(window.books().getFirst().received()).isEqualTo(2);
    assertThat(window.batches().size()).isEqualTo(1);
    assertThat(window.completeness().untilMillis())
        .isEqualTo(102 * PANE_MILLIS - 7_000 - AgentMarks.MARGIN_MILLIS);
    // The gap of two panes counts as one.
    assertThat(window.completeness().streamMillis()).isEqualTo(102 * PANE_MILLIS);
    assertThat(window.completeness().agents()).isEqualTo(1);
    assertThat(window.completeness().named())
        .containsExactly(new WindowCompleteness.Agent(false, 1, 0, "web-1"));
    assertThat(heartbeats).containsExactly(true, true);
    assertThat(withoutAge + malformedAges).isZero();
  }

  @Test
  void aWindowOfHeartbeatsSaysUntilWhenItsQueueIsComplete() throws Exception {
    aggregation.panes(true);
    queue.take(List.of(stored(10, 100, "0;")), 100 * PANE_MILLIS);
    giveBack(queue.swap(100 * PANE_MILLIS));
    queue.take(List.of(heartbeat(11, 101, ";", false)), 101 * PANE_MILLIS);

    SealedWindow window = queue.swap(102 * PANE_MILLIS).seal();
    RecordPayloads payloads = new RecordPayloads(() -> null);
    byte[] bytes = payloads.bytes(window);
    SealedWindow read = WindowFormat.decode(bytes, 0, bytes.length, ID);
    assertThat(read.rows()).isZero();
    assertThat(read.panes().lengthMillis()).isEqualTo(PANE_MILLIS);
    assertThat(read.panes().mainMillis()).isEqualTo(100 * PANE_MILLIS);
    assertThat(read.completeness().untilMillis())
        .isEqualTo(101 * PANE_MILLIS - AgentMarks.MARGIN_MILLIS);
  }

  @Test
  void aQueueWaitsForNoAgentAfterTheGoodbyeOfAll() {
    aggregation.panes(true);
    queue.take(List.of(stored(10, 100, "0;"), heartbeat(11, 101, ";", true)), 100 * PANE_MILLIS);

    assertThat(queue.swap(102 * PANE_MILLIS).seal().completeness().agents()).isZero();
  }

  /** Ends a window a pane after the last one; the broker has no message. */
  private FilledWindow silent(long pane) {
    queue.endsAt(queue.next());
    return queue.swap(pane * PANE_MILLIS, PANE_MILLIS);
  }

  @Test
  void aSilentQueueExcludesItsAgentClosesItsPanesAndEnds() {
    aggregation.panes(true);
    queue.take(List.of(stored(10, 100, "0;")), 100 * PANE_MILLIS);
    FilledWindow filled = queue.swap(101 * PANE_MILLIS, PANE_MILLIS);
    for (int silent = 0; silent < 6; silent++) {
      giveBack(filled);
      filled = silent(102 + silent);
      SealedWindow window = filled.seal();
      assertThat(window.from()).isEqualTo(11);
      assertThat(window.to()).isEqualTo(11);
      assertThat(window.rows()).isZero();
      assertThat(window.completeness().streamMillis()).isEqualTo((100 + silent) * PANE_MILLIS);
      assertThat(window.completeness().agents()).isEqualTo(silent < 5 ? 1 : 0);
      // Up to the message less the margin, then up to now less the margin.
      assertThat(window.closedMillis()).isEqualTo((silent < 5 ? 99 : 104) * PANE_MILLIS);
    }
    filled.giveBack();
    assertThat(silent(108)).isNull();
    assertThat(silent(109)).isNull();
  }

  @Test
  void aSilentQueueOfAgentsWithoutMarksClosesItsPanesAfterTheGrace() {
    aggregation.panes(true);
    queue.take(List.of(stored(10, 100, "0")), 100 * PANE_MILLIS);
    FilledWindow filled = queue.swap(101 * PANE_MILLIS, PANE_MILLIS);
    SealedWindow window = null;
    for (int pane = 102; filled != null; pane++) {
      window = filled.seal();
      filled.giveBack();
      filled = silent(pane);
    }
    assertThat(window.completeness().isEmpty()).isTrue();
    assertThat(window.closedMillis()).isEqualTo(101 * PANE_MILLIS);
    assertThat(window.sealedMillis()).isEqualTo(111 * PANE_MILLIS);
  }

  /** Readers of the journal count late spans in the first pane that is not closed. */
  @Test
  void aSilentQueueClosesThePaneInWhichLateSpansCount() {
    aggregation.panes(true);
    QueueImage image = aggregation.newImage();
    queue.take(List.of(stored(10, 100, "0")), 100 * PANE_MILLIS);
    applyUntilNull(queue.swap(101 * PANE_MILLIS, PANE_MILLIS), image);
    assertThat(image.openPanes().closedMillis()).isEqualTo(101 * PANE_MILLIS);
    queue.take(List.of(stored(11, 109, Long.toString(20 * PANE_MILLIS))), 112 * PANE_MILLIS);
    applyUntilNull(queue.swap(113 * PANE_MILLIS, PANE_MILLIS), image);

    assertThat(image.openPanes().panes()).isEmpty();
    assertThat(image.openPanes().closedMillis()).isEqualTo(102 * PANE_MILLIS);
    assertThat(image.countedMillis()).isEqualTo(102 * PANE_MILLIS);
  }

  /** Adds windows without messages to the image until the queue ends none. */
  private void applyUntilNull(FilledWindow first, QueueImage image) {
    int pane = 200;
    for (FilledWindow filled = first; filled != null; filled = silent(pane++)) {
      image.apply(filled.seal());
      filled.giveBack();
    }
  }

  @Test
  void timePassesOnlyAtTheEndOfTheQueue() {
    aggregation.panes(true);
    queue.take(List.of(stored(10, 100, "0;")), 100 * PANE_MILLIS);
    giveBack(queue.swap(101 * PANE_MILLIS, PANE_MILLIS));

    assertThat(queue.swap(102 * PANE_MILLIS, PANE_MILLIS)).as("its end is unknown").isNull();
    queue.endsAt(12);
    assertThat(queue.swap(103 * PANE_MILLIS, PANE_MILLIS)).as("a message is unread").isNull();
    giveBack(silent(104));
    queue.take(List.of(stored(11, 104, "0;")), 104 * PANE_MILLIS);
    FilledWindow filled = silent(105);
    assertThat(filled.seal().completeness().streamMillis())
        .as("the gap counts as a pane")
        .isEqualTo(101 * PANE_MILLIS);
    assertThat(silent(106)).as("the window is not kept").isNull();
    filled.giveBack();
    filled = silent(107);
    assertThat(filled.seal().completeness().streamMillis())
        .as("the journal may have been away")
        .isEqualTo(101 * PANE_MILLIS);
    filled.giveBack();
    queue.take(List.of(stored(13, 107, "0;")), 107 * PANE_MILLIS);
    assertThat(silent(108)).as("a message is missing").isNull();
  }

  @Test
  void timePassesAlsoIfTheEndIsReadLessOftenThanWindowsEnd() {
    aggregation.panes(true);
    queue.take(List.of(stored(10, 100, "0;")), 100 * PANE_MILLIS);
    FilledWindow filled = queue.swap(101 * PANE_MILLIS, PANE_MILLIS);
    for (int silent = 0; silent < 6; silent++) {
      giveBack(filled);
      assertThat(queue.swap(102 * PANE_MILLIS, PANE_MILLIS / 2)).as("its end is unknown").isNull();
      queue.endsAt(queue.next());
      filled = queue.swap(103 * PANE_MILLIS, PANE_MILLIS / 2);
      assertThat(filled.seal().completeness().streamMillis())
          .isEqualTo((100 + silent) * PANE_MILLIS);
    }
  }

  @Test
  void aSilentQueueWithoutPanesWritesNoWindows() {
    queue.take(List.of(stored(10, 100, "0;")), 100 * PANE_MILLIS);
    giveBack(queue.swap(101 * PANE_MILLIS, PANE_MILLIS));

    assertThat(silent(102)).isNull();
  }

  @Test
  void heartbeatsThatCannotBeReadAndOfUnknownAgentsAreIgnored() {
    aggregation.panes(true);
    MessageExt cut = heartbeat(10, 100, ";", false);
    cut.setBody(Arrays.copyOf(cut.getBody(), 20));
    MessageExt later = heartbeat(11, 100, ";", false);
    later.getBody()[4] = 2;
    queue.take(List.of(cut, later, heartbeat(12, 100, ";", false)), 100 * PANE_MILLIS);

    SealedWindow window = queue.swap(101 * PANE_MILLIS).seal();
    assertThat(window.to()).isEqualTo(13);
    assertThat(window.books()).isEmpty();
    assertThat(window.completeness().isEmpty()).isTrue();
    assertThat(window.panes().isEmpty()).isTrue();
    assertThat(heartbeats).containsExactly(false, false, true);
  }

  @Test
  void windowsWithoutPanesDoNotSayUntilWhenTheyAreComplete() {
    queue.take(List.of(stored(10, 100, "0;")), 100 * PANE_MILLIS);

    assertThat(queue.swap(101 * PANE_MILLIS).seal().completeness().isEmpty()).isTrue();
  }

  @Test
  void aQueueThatWentBackKeepsThePlacesThatItsNextOwnerMustCompare() throws Exception {
    OwnedQueue queue = queueWhoseWindowEndedAt(4, 8, 10);
    queue.compare(new Range(0, 20, 10), new Broker(0, 20, 9));
    queue.take(others(20, 8, 9, 10, 11), 0);
    queue.swap(1_000);

    // If the window from 10 to 12 is not kept, the next owner begins at 10.
    LastMessages read = queue.lastMessages().upTo(10);
    assertThat(read.lastEnd()).isEqualTo(10);
    assertThat(read.checksum(2)).isEqualTo(MessageIdentity.of(message(9, 0, 10)));
  }

  @Test
  void aQueueWithoutThePlaceOfItsLastWindowIsReadFromTheOneBefore() throws Exception {
    OwnedQueue queue = queueFrom(10, 4, 8);

    queue.compare(new Range(0, 20, 10), new Broker(0, 20, 20));

    assertThat(queue.next()).isEqualTo(8);
    assertThat(replaced).containsExactly(2L);
  }

  @Test
  void aMissingMessageIsPulledAgain() throws Exception {
    assertThat(queue.take(messages(0, 15, 10, 12, 13), 0)).isEqualTo(Outcome.REWIND);
    assertThat(queue.next()).isEqualTo(11);
    comparedWith(new Broker(0, 15, 15));
    assertThat(queue.take(messages(0, 15, 11, 12, 13), 0)).isEqualTo(Outcome.TAKEN);

    assertThat(recorded()).isEqualTo(4);
    assertThat(skipped).isEmpty();
  }

  @Test
  void messagesThatTheBrokerDeletedAreCountedAsSkipped() {
    assertThat(queue.take(messages(20, 30, 20, 21), 0)).isEqualTo(Outcome.TAKEN);

    assertThat(queue.next()).isEqualTo(22);
    assertThat(skipped).containsExactly(10L);
    SealedWindow window = queue.swap(1_000).seal();
    assertThat(window.from()).as("where the one before it ended").isEqualTo(10);
    assertThat(window.to()).isEqualTo(22);
    assertThat(window.books().getFirst().recorded()).isEqualTo(2);
  }

  @Test
  void aMessageThatTheBrokerHasIsNeverGivenUp() throws Exception {
    for (int i = 0; i < 10; i++) {
      assertThat(queue.take(messages(0, 15, 11), 0)).isEqualTo(Outcome.REWIND);
      comparedWith(new Broker(0, 15, 15));
    }
    assertThat(queue.take(messages(0, 15, 10, 11), 0)).isEqualTo(Outcome.TAKEN);

    assertThat(skipped).isEmpty();
    assertThat(recorded()).isEqualTo(2);
  }

  @Test
  void aMessageThatTheBrokerDoesNotHaveIsGivenUp() throws Exception {
    for (int i = 0; i < 3; i++) {
      assertThat(queue.take(messages(0, 15, 11), 0)).isEqualTo(Outcome.REWIND);
      comparedWith(new Broker(0, 15, 15, 10));
    }
    assertThat(queue.take(messages(0, 15, 11), 0)).isEqualTo(Outcome.TAKEN);

    assertThat(skipped).containsExactly(1L);
    assertThat(queue.next()).isEqualTo(12);
  }

  @Test
  void aMessageIsNotGivenUpWhileTheQueueCannotBePulledAgain() throws Exception {
    for (int i = 0; i < 10; i++) {
      assertThat(queue.take(messages(0, 15, 11), 0)).isEqualTo(Outcome.REWIND);
    }
    comparedWith(new Broker(0, 15, 15, 10));
    assertThat(queue.take(messages(0, 15, 10, 11), 0)).isEqualTo(Outcome.TAKEN);

    assertThat(skipped).isEmpty();
    assertThat(recorded()).isEqualTo(2);
  }

  @Test
  void aTopicMadeAnewIsReadFromItsStart() throws Exception {
    OwnedQueue queue = queueWhoseWindowEndedAt(10);
    queue.take(messages(0, 11, 10), 0);
    assertThat(queue.take(others(2, 0, 1), 0)).isEqualTo(Outcome.REWIND);
    comparedWith(queue, new Broker(0, 2, 0));
    assertThat(queue.next()).isZero();
    assertThat(queue.take(others(2, 0, 1), 0)).isEqualTo(Outcome.TAKEN);

    assertThat(queue.next()).isEqualTo(2);
    assertThat(replaced).containsExactly(11L);
    SealedWindow window = queue.swap(1_000).seal();
    assertThat(window.from()).isEqualTo(10);
    assertThat(window.to()).isEqualTo(2);
  }
}
