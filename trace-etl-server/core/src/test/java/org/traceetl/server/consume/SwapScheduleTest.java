package org.traceetl.server.consume;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.data.Offset.offset;

import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.apache.rocketmq.common.message.MessageExt;
import org.apache.rocketmq.common.message.MessageQueue;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.traceetl.proto.BatchAges;
import org.traceetl.server.consume.metrics.SpanPipelineMetrics;
import org.traceetl.server.consume.queue.Aggregation;
import org.traceetl.server.consume.queue.BatchMessage;
import org.traceetl.server.consume.queue.FilledWindow;
import org.traceetl.server.consume.queue.OwnedQueue;
import org.traceetl.server.consume.queue.PaneLag;
import org.traceetl.server.journal.format.RecordPayloads;
import org.traceetl.server.window.EdgeChange;
import org.traceetl.server.window.LastMessages;
import org.traceetl.server.window.QueueId;
import org.traceetl.server.window.SealedWindow;
import org.traceetl.server.window.WindowCompleteness;
import org.traceetl.server.window.WindowPanes;

/** Windows follow the panes: in normal running a window has the batches of one. */
class SwapScheduleTest {
  private static final long WINDOW_MILLIS = 15_000;
  private static final long STEP_MILLIS = 10;
  private static final long EACH_MILLIS = 1_000;
  private static final long SENDING_MILLIS = 20;
  private static final long START_MILLIS = 119_333_333L * WINDOW_MILLIS;
  private static final int SERIES = 20;

  /** Sends a batch of each of its series every second. */
  private record Agent(int number, long phaseMillis, long delayMillis) {}

  private final Aggregation aggregation = Aggregation.builder(() -> 1).build();
  private final PaneLag lag = new PaneLag(WINDOW_MILLIS);
  private final SwapSchedule swaps = new SwapSchedule(WINDOW_MILLIS, lag);
  private final OwnedQueue queue =
      new OwnedQueue(
          new QueueId("b", 0),
          new MessageQueue("t", "b", 0),
          aggregation.newAggregator(
              new QueueId("b", 0), aggregation.newDecoder(), new SpanPipelineMetrics()),
          new SpanPipelineMetrics(),
          0,
          LastMessages.NONE,
          resumed -> false,
          Set.of(),
          lag);
  private long sent;

  private MessageExt message(Agent agent, long storedMillis) {
    BatchMessage batch = new BatchMessage("shop " + agent.number);
    for (int series = 0; series < SERIES; series++) {
      batch.span("GET /" + (char) ('a' + series), 1_000_000L * (1 + series));
    }
    MessageExt message = new MessageExt();
    message.setQueueOffset(sent);
    message.setStoreHost(new InetSocketAddress("127.0.0.1", 1));
    message.setStoreTimestamp(storedMillis);
    message.setBody(batch.message(sent));
    message.putUserProperty(BatchAges.PROPERTY, Long.toString(agent.delayMillis - SENDING_MILLIS));
    sent++;
    return message;
  }

  /**
   * Reads what agents send, and ends windows when they are due.
   *
   * @param aheadMillis the broker's clock less that of the server
   * @return the windows after the first two, before which the lag is not known
   */
  private List<SealedWindow> run(List<Agent> agents, long aheadMillis) {
    aggregation.panes(true);
    List<SealedWindow> windows = new ArrayList<>();
    swaps.begin(START_MILLIS);
    for (long now = START_MILLIS; windows.size() < 12; now += STEP_MILLIS) {
      for (Agent agent : agents) {
        if ((now - agent.delayMillis - agent.phaseMillis) % EACH_MILLIS == 0) {
          queue.take(List.of(message(agent, now - SENDING_MILLIS + aheadMillis)), now);
        }
      }
      if (swaps.isDue(now)) {
        FilledWindow filled = queue.swap(now);
        windows.add(filled.seal());
        filled.giveBack();
        swaps.ended(now);
      }
    }
    for (int i = 1; i < windows.size(); i++) {
      assertThat(windows.get(i).sealedMillis() - windows.get(i - 1).sealedMillis())
          .isBetween(i == 1 ? WINDOW_MILLIS / 2 : WINDOW_MILLIS - 100, WINDOW_MILLIS * 3 / 2);
    }
    return windows.subList(2, windows.size());
  }

  @ParameterizedTest
  @ValueSource(longs = {0, 3_000, -3_000, 7_000, -6_800})
  void windowsHaveOnePaneInNormalRunningWhateverTheBrokersClockIs(long aheadMillis) {
    List<Agent> agents = new ArrayList<>();
    for (int number = 0; number < 9; number++) {
      agents.add(new Agent(number, 100 * (number + 1), 240 + 20 * number));
    }

    for (SealedWindow window : run(agents, aheadMillis)) {
      assertThat(window.panes().isEmpty()).isFalse();
      assertThat(window.panes().others()).as("%s", window.panes()).isEmpty();
      assertThat(window.rows()).isEqualTo(SERIES * agents.size());
    }
  }

  @Test
  void agentsWithDifferentDelaysCostFewBytes() {
    List<Agent> agents = new ArrayList<>();
    Random from = new Random(7);
    for (int number = 0; number < 40; number++) {
      agents.add(new Agent(number, 10 * from.nextInt(100), 100 + 10 * from.nextInt(40)));
    }
    long bytes = 0;
    long bytesOfTotals = 0;
    RecordPayloads payloads = new RecordPayloads(() -> null);

    for (SealedWindow window : run(agents, -500)) {
      bytes += payloads.bytes(window).length;
      bytesOfTotals += payloads.bytes(withoutPanes(window)).length;
    }

    assertThat(bytes).isBetween(bytesOfTotals, bytesOfTotals * 105 / 100);
  }

  private static SealedWindow withoutPanes(SealedWindow window) {
    return new SealedWindow(
        window.queue(),
        window.from(),
        window.to(),
        window.openedMillis(),
        window.sealedMillis(),
        window.created(),
        window.evicted(),
        window.rows(),
        window.stride(),
        window.series(),
        window.counts(),
        window.durationNanos(),
        window.exemplars(),
        window.exemplarBuckets(),
        window.documents(),
        window.books(),
        window.schema(),
        window.carries(),
        window.batches(),
        window.natives(),
        WindowPanes.NONE,
        WindowCompleteness.NONE,
        SealedWindow.UNKNOWN_CLOSED,
        false,
        EdgeChange.NONE);
  }

  @Test
  void windowsEndAtMultiplesOfTheirLengthBeforeTheLagIsKnown() {
    swaps.begin(START_MILLIS + 1);

    assertThat(swaps.isDue(START_MILLIS + 1)).isFalse();
    assertThat(swaps.isDue(START_MILLIS + WINDOW_MILLIS - 1)).isFalse();
    assertThat(swaps.isDue(START_MILLIS + WINDOW_MILLIS)).isTrue();
  }

  @ParameterizedTest
  @ValueSource(longs = {400, -400})
  void windowsDoNotEndTwiceWhenTheLagChanges(long delayMillis) {
    swaps.begin(START_MILLIS);
    for (int i = 0; i < 100; i++) {
      lag.add(delayMillis);
    }
    long first = START_MILLIS + WINDOW_MILLIS;
    swaps.ended(first);

    assertThat(lag.millis()).isCloseTo(delayMillis, offset(15L));
    assertThat(swaps.isDue(first + lag.millis() + 1_000)).isFalse();
    assertThat(swaps.isDue(first + WINDOW_MILLIS + lag.millis() - 1)).isFalse();
    assertThat(swaps.isDue(first + WINDOW_MILLIS + lag.millis())).isTrue();
  }

  @Test
  void windowsEndAtOnceIfTheClockWasSetBack() {
    swaps.begin(START_MILLIS);
    assertThat(swaps.isDue(START_MILLIS - 1)).isTrue();
    swaps.ended(START_MILLIS - 3_600_000);

    assertThat(swaps.isDue(START_MILLIS - 3_600_000)).isFalse();
    assertThat(swaps.isDue(START_MILLIS - 3_600_000 + WINDOW_MILLIS)).isTrue();
  }

  @Test
  void aWindowThatEndsLateDoesNotDelayTheNext() {
    swaps.begin(START_MILLIS);
    swaps.ended(START_MILLIS + 3 * WINDOW_MILLIS - 1_000);

    assertThat(swaps.isDue(START_MILLIS + 3 * WINDOW_MILLIS)).isTrue();
  }
}
