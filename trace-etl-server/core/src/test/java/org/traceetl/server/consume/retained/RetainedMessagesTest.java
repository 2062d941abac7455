package org.traceetl.server.consume.retained;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.common.util.concurrent.Uninterruptibles;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.Writer;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.time.Instant;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.traceetl.common.Clocks;
import org.traceetl.server.config.RocketMqConfig;
import org.traceetl.server.consume.retained.RetainedMessages.Extent;
import org.traceetl.server.consume.retained.RetainedMessages.Limits;
import org.traceetl.server.consume.retained.RetainedMessages.Part;
import org.traceetl.server.journal.BrokerLogs;
import org.traceetl.server.journal.JournalLog;
import org.traceetl.server.window.QueueId;

/** Which messages are read, and how fast. */
final class RetainedMessagesTest {
  /** Messages of a queue: one a second, the newest just now. */
  private static final long END = 4_000;

  private static final int BYTES = 1_000;
  private static final int MESSAGES_PER_READ = 10;
  private static final long NOW_SECONDS = 1_000_000;

  /** Time passes only while the reader pauses. */
  private final AtomicLong nanos = new AtomicLong();

  private final RetainedMessages messages =
      new RetainedMessages(
          new RocketMqConfig(null, null, null, null, null, null),
          new Clocks(nanos::get, () -> Instant.ofEpochSecond(NOW_SECONDS), nanos::addAndGet),
          new PrintWriter(Writer.nullWriter()));

  private final AtomicLong read = new AtomicLong();

  private final RetainedMessages.Reader reader =
      new RetainedMessages.Reader() {
        @Override
        public void add(QueueId queue, byte[] message) {
          read.incrementAndGet();
        }

        @Override
        public boolean isFull() {
          return false;
        }
      };

  /** A queue with a message a second. */
  private static class Queue implements JournalLog {
    @Override
    public List<Entry> read(long from) throws IOException {
      return LongStream.range(from, Math.min(END, from + MESSAGES_PER_READ))
          .mapToObj(offset -> new Entry(offset, new byte[BYTES]))
          .toList();
    }

    @Override
    public long begin() {
      return 0;
    }

    @Override
    public long end() {
      return END;
    }

    @Override
    public long offsetAt(long unixMillis) {
      return END - (NOW_SECONDS - unixMillis / 1_000);
    }

    @Override
    public long append(byte[] message) {
      throw new UnsupportedOperationException("only read");
    }

    @Override
    public long mark(String group) {
      return NONE;
    }

    @Override
    public void mark(String group, long offset) {
      throw new UnsupportedOperationException("only read");
    }
  }

  private Extent read(Limits limits) throws Exception {
    Queue queue = new Queue();
    return messages.read(
        List.of(
            new Part(new QueueId("a", 0), queue, 0, END),
            new Part(new QueueId("a", 1), queue, 0, END)),
        Duration.ofHours(1),
        limits,
        reader);
  }

  @Test
  void topicWhoseBrokerIsAwayIsAwaited() throws Exception {
    Set<QueueId> queues = new HashSet<>();
    List<Part> parts = awaited(queues, () -> queues.add(new QueueId("a", 0)));

    assertThat(parts).extracting(Part::queue).containsExactly(new QueueId("a", 0));
    assertThat(nanos).hasPositiveValue();
  }

  @Test
  void topicThatStaysUnknownIsAwaitedForTheTime() {
    assertThatThrownBy(() -> awaited(Set.of(), () -> {}))
        .hasMessageContaining("is not known to name server");
    assertThat(nanos).hasValue(Patience.OF_COMMAND.toNanos());
  }

  /** Returns what is read of queues, which may change in each pause. */
  private List<Part> awaited(Set<QueueId> queues, Runnable pause) throws Exception {
    BrokerLogs logs =
        (BrokerLogs)
            Proxy.newProxyInstance(
                BrokerLogs.class.getClassLoader(),
                new Class<?>[] {BrokerLogs.class},
                (proxy, method, arguments) ->
                    method.getName().equals("queues") ? Set.copyOf(queues) : new Queue());
    Clocks clocks =
        new Clocks(
            nanos::get,
            () -> Instant.ofEpochSecond(NOW_SECONDS),
            more -> {
              nanos.addAndGet(more);
              pause.run();
            });
    return new RetainedMessages(
            new RocketMqConfig(null, null, null, null, null, null),
            clocks,
            new PrintWriter(Writer.nullWriter()),
            Patience.OF_COMMAND)
        .awaitAll(logs, 1);
  }

  @Test
  void allMessagesSinceThenAreReadIfTheyAreFewEnough() throws Exception {
    Extent extent = read(new Limits(7_200, Long.MAX_VALUE, Duration.ofSeconds(1)));

    assertThat(extent).isEqualTo(new Extent((NOW_SECONDS - 3_600) * 1_000, true));
    assertThat(read).hasValue(7_200);
  }

  @Test
  void onlyNewerMessagesAreReadIfTheyAreTooMany() throws Exception {
    Extent extent = read(new Limits(2_000, Long.MAX_VALUE, Duration.ofSeconds(1)));

    assertThat(extent).isEqualTo(new Extent((NOW_SECONDS - 900) * 1_000, true));
    assertThat(read).hasValue(1_800);
  }

  @Test
  void anIntervalEndsBeforeItsEnd() throws Exception {
    Extent extent =
        messages.read(
            List.of(new Part(new QueueId("a", 0), new Queue(), 0, END)),
            Instant.ofEpochSecond(NOW_SECONDS - 1_000),
            Instant.ofEpochSecond(NOW_SECONDS - 400),
            new Limits(300, Long.MAX_VALUE, Duration.ofSeconds(1)),
            reader);

    // Half of it, which keeps the end.
    assertThat(extent).isEqualTo(new Extent((NOW_SECONDS - 700) * 1_000, true));
    assertThat(read).hasValue(300);
  }

  @Test
  void eachQueueHasAPartOfTheTimeByItsMessages() throws Exception {
    // 10 messages a second: of each queue 50 in 5 seconds.
    Extent extent = read(new Limits(7_200, 10 * BYTES, Duration.ofSeconds(10)));

    assertThat(extent).isEqualTo(new Extent((NOW_SECONDS - 3_600) * 1_000, false));
    assertThat(read).hasValue(100);
    assertThat(nanos).hasValue(Duration.ofSeconds(10).toNanos());
  }

  @Test
  void aLargeQueueBehindSmallOnesIsReadWhole() throws Exception {
    Queue small = new Queue();
    Extent extent =
        messages.read(
            List.of(
                new Part(new QueueId("a", 0), small, END, END),
                new Part(new QueueId("a", 1), small, END - 10, END),
                new Part(new QueueId("a", 2), new Queue(), 0, END)),
            Duration.ofSeconds(90),
            new Limits(1_000, 10 * BYTES, Duration.ofSeconds(10)),
            reader);

    assertThat(extent.isComplete()).isTrue();
    assertThat(read).hasValue(100);
  }

  @Test
  void queuesAreReadAtOnce() throws Exception {
    CountDownLatch both = new CountDownLatch(2);
    class Meeting extends Queue {
      @Override
      public List<Entry> read(long from) throws IOException {
        both.countDown();
        Uninterruptibles.awaitUninterruptibly(both);
        return super.read(from);
      }
    }
    List<Part> parts =
        List.of(
            new Part(new QueueId("a", 0), new Meeting(), 0, END),
            new Part(new QueueId("a", 1), new Meeting(), 0, END),
            new Part(new QueueId("a", 2), new Meeting(), 0, END));

    Extent extent =
        messages.read(
            parts,
            Duration.ofSeconds(100),
            new Limits(1_000, Long.MAX_VALUE, Duration.ofSeconds(10), 2),
            reader);

    assertThat(extent.isComplete()).isTrue();
    assertThat(read).hasValue(300);
  }

  @Test
  void noMessagesAreReadAtOnceToo() throws Exception {
    Extent extent =
        messages.read(
            List.of(new Part(new QueueId("a", 0), new Queue(), END, END)),
            Duration.ofSeconds(1_001),
            new Limits(2_000, Long.MAX_VALUE, Duration.ofSeconds(10), 4),
            reader);

    assertThat(extent.isComplete()).isTrue();
    assertThat(read).hasValue(0);
  }

  @Test
  void partsOfAQueueAreReadAtOnceAndEachMessageOnce() throws Exception {
    CountDownLatch both = new CountDownLatch(2);
    Set<Long> begun = ConcurrentHashMap.newKeySet();
    Queue meeting =
        new Queue() {
          @Override
          public List<Entry> read(long from) throws IOException {
            if (begun.add(from)) {
              both.countDown();
            }
            Uninterruptibles.awaitUninterruptibly(both);
            return super.read(from);
          }
        };

    Extent extent =
        messages.read(
            List.of(new Part(new QueueId("a", 0), meeting, 0, END)),
            Duration.ofSeconds(1_001),
            new Limits(2_000, Long.MAX_VALUE, Duration.ofSeconds(10), 4),
            reader);

    assertThat(extent.isComplete()).isTrue();
    assertThat(read).hasValue(1_001);
  }

  @Test
  void aFailureOfOneQueueEndsThoseReadAtOnce() {
    Queue failing =
        new Queue() {
          @Override
          public List<Entry> read(long from) throws IOException {
            throw new IOException("gone");
          }
        };

    assertThatThrownBy(() ->
            messages.read(
                List.of(
                    new Part(new QueueId("a", 0), failing, 0, END),
                    new Part(new QueueId("a", 1), new Queue(), 0, END)),
                Duration.ofSeconds(100),
                new Limits(1_000, Long.MAX_VALUE, Duration.ofSeconds(10), 2),
                reader))
        .isInstanceOf(IOException.class)
        .hasMessage("gone");
  }

  @Test
  void aSlowReadIsMadeUpFor() throws Exception {
    Queue slow =
        new Queue() {
          @Override
          public List<Entry> read(long from) throws IOException {
            nanos.addAndGet(from == END - 100 ? Duration.ofSeconds(4).toNanos() : 0);
            return super.read(from);
          }
        };

    Extent extent =
        messages.read(
            List.of(new Part(new QueueId("a", 0), slow, 0, END)),
            Duration.ofSeconds(100),
            new Limits(100, 10 * BYTES, Duration.ofSeconds(11)),
            reader);

    assertThat(extent.isComplete()).isTrue();
    assertThat(read).hasValue(100);
    // 10 messages a second; no pause follows the last ten.
    assertThat(nanos).hasValue(Duration.ofSeconds(9).toNanos());
  }

  @Test
  void aPauseEndsWithTheTime() throws Exception {
    // 1 message a second, so the first 10 of each queue would take 10 seconds.
    Extent extent = read(new Limits(7_200, BYTES, Duration.ofSeconds(4)));

    assertThat(extent.isComplete()).isFalse();
    assertThat(read).hasValue(2 * MESSAGES_PER_READ);
    assertThat(nanos).hasValue(Duration.ofSeconds(4).toNanos());
  }

  @Test
  void noPauseFollowsTheLastMessageOfAQueue() throws Exception {
    Extent extent =
        messages.read(
            List.of(new Part(new QueueId("a", 0), new Queue(), 0, END)),
            Duration.ofSeconds(20),
            new Limits(20, 10 * BYTES, Duration.ofSeconds(10)),
            reader);

    assertThat(extent.isComplete()).isTrue();
    assertThat(read).hasValue(20);
    assertThat(nanos).hasValue(Duration.ofSeconds(1).toNanos());
  }
}
