package org.traceetl.server.edge;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.traceetl.server.edge.Half.CLIENT;
import static org.traceetl.server.edge.Half.CONSUMER;
import static org.traceetl.server.edge.Half.PRODUCER;
import static org.traceetl.server.edge.Half.SERVER;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class HalfTableTest {
  private static final long WAIT = 100;
  private static final long KEY = 7;
  private static final int CHECK = 0xFFFF;
  private static final long SEED = 1;
  private static final Joins IGNORE =
      new Joins() {
        @Override
        public void paired(Half caller, Half callee) {}

        @Override
        public void expired(Half half) {}
      };

  private final HalfTable table = new HalfTable(4, WAIT, SEED);
  private final RecordedJoins joins = new RecordedJoins();
  private final Half half = new Half();

  /** Few keys, a small table and a short time, so that all cases meet. */
  @Property
  void doesWhatANaiveTableDoesAndItsBooksBalance(@ForAll long seed) {
    Random random = new Random(seed);
    int capacity = random.nextInt(1, 12);
    long waitMillis = random.nextInt(1, 40);
    HalfTable tested = new HalfTable(capacity, waitMillis, random.nextLong());
    NaiveHalfTable naive = new NaiveHalfTable(capacity, waitMillis);
    RecordedJoins actual = new RecordedJoins();
    RecordedJoins expected = new RecordedJoins();
    long[] offered = new long[CONSUMER + 1];
    long[] refused = new long[CONSUMER + 1];
    long millis = random.nextLong(1L << 40);
    for (int head = 0; head < 200; head++) {
      if (random.nextInt(3) == 0) {
        millis += random.nextInt(-2, 9);
        tested.advance(millis, actual);
        naive.advance(millis, expected);
      }
      long key = random.nextInt(3);
      int check = random.nextInt(2) * CHECK;
      int side = random.nextInt(CLIENT, CONSUMER + 1);
      half.set(key, check, side, head, 0, 0, 0);
      if (random.nextBoolean()) {
        tested.prepare(new long[] {-1, key}, new int[] {0, check}, 1, 2);
      }
      Outcome outcome = tested.offer(half, actual);
      assertThat(outcome).isEqualTo(naive.offer(key, check, side, head, expected));
      assertThat(actual.take()).isEqualTo(expected.take());
      assertThat(tested.open()).isEqualTo(naive.open());

      offered[side]++;
      if (outcome == Outcome.DUPLICATE || outcome == Outcome.OVERFLOWED) {
        refused[side]++;
      }
      for (int each = CLIENT; each <= CONSUMER; each++) {
        assertThat(actual.settled(each) + refused[each] + tested.waiting(each))
            .isEqualTo(offered[each]);
      }
      if (random.nextInt(20) == 0) {
        tested.endWindow(new RecordedChange());
      }
    }
  }

  @ParameterizedTest
  @CsvSource({"1, 2", "1, 4", "3, 2", "3, 4"})
  void callerAndCalleeArePairedInBothOrders(int caller, int callee) {
    assertThat(offer(KEY, caller, 1)).isEqualTo(Outcome.WAITING);
    assertThat(offer(KEY, callee, 2)).isEqualTo(Outcome.PAIRED);
    assertThat(offer(KEY + 1, callee, 4)).isEqualTo(Outcome.WAITING);
    assertThat(offer(KEY + 1, caller, 3)).isEqualTo(Outcome.PAIRED);

    assertThat(joins.take()).containsExactly("1 with 2", "3 with 4");
    assertThat(table.open()).isEqualTo(caller == CLIENT && callee == SERVER ? 0 : 2);
  }

  @ParameterizedTest
  @CsvSource({"1, 1", "1, 3", "3, 3", "2, 2"})
  void secondHalfInTheSamePlaceIsADuplicate(int first, int second) {
    offer(KEY, first, 1);

    assertThat(offer(KEY, second, 2)).isEqualTo(Outcome.DUPLICATE);
    assertThat(table.open()).isEqualTo(1);
    assertThat(joins.take()).isEmpty();
  }

  @Test
  void halvesWithDifferentChecksAreNotPaired() {
    offer(KEY, CLIENT, 1);
    half.set(KEY, CHECK - 1, SERVER, 2, 0, 0, 0);

    assertThat(table.offer(half, joins)).isEqualTo(Outcome.WAITING);
  }

  @Test
  void halvesWithEqualHashesAndDifferentKeysAreNotPaired() {
    OpenHalves hashes = new OpenHalves(new HalfRows(1), SEED);
    Map<Integer, Long> keys = new HashMap<>();
    long key = 0;
    Long other = null;
    while (other == null) {
      key++;
      half.set(key, CHECK, CLIENT, 0, 0, 0, 0);
      other = keys.put(hashes.hash(half), key);
    }
    offer(other, CLIENT, 1);

    assertThat(offer(key, SERVER, 2)).isEqualTo(Outcome.WAITING);
    assertThat(offer(key, CLIENT, 3)).isEqualTo(Outcome.PAIRED);
    assertThat(offer(other, SERVER, 4)).isEqualTo(Outcome.PAIRED);
    assertThat(joins.take()).containsExactly("3 with 2", "1 with 4");
  }

  @Test
  void completeCallIsForgotten() {
    offer(KEY, CLIENT, 1);
    offer(KEY, SERVER, 2);

    assertThat(offer(KEY, SERVER, 3)).isEqualTo(Outcome.WAITING);
    table.advance(WAIT, joins);
    assertThat(joins.take()).containsExactly("1 with 2", "3 expired");
  }

  @Test
  void producerIsPairedWithConsumersBeforeAndAfterIt() {
    offer(KEY, CONSUMER, 1);
    offer(KEY, CONSUMER, 2);
    offer(KEY, PRODUCER, 3);
    offer(KEY, CONSUMER, 4);
    table.advance(WAIT, joins);

    assertThat(joins.take())
        .containsExactly("3 with 1", "3 again with 2", "3 again with 4", "3 ends");
    assertThat(table.open()).isZero();
  }

  @Test
  void clientThatSentAMessageIsPairedUntilItsCallIsAnswered() {
    offer(KEY, CLIENT, 1);
    offer(KEY, CONSUMER, 2);
    offer(KEY, CONSUMER, 3);
    offer(KEY, SERVER, 4);

    assertThat(joins.take()).containsExactly("1 with 2", "1 again with 3", "1 again with 4");
    assertThat(table.open()).isZero();
  }

  @Test
  void producerWithoutAConsumerExpires() {
    offer(KEY, PRODUCER, 1);
    table.advance(WAIT - 1, joins);
    assertThat(joins.take()).isEmpty();
    table.advance(WAIT, joins);

    assertThat(joins.take()).containsExactly("1 expired");
  }

  @Test
  void pairedHalvesHaveAllTheirFields() {
    table.advance(5, joins);
    half.set(Long.MIN_VALUE, CHECK, CLIENT, Integer.MIN_VALUE, Long.MAX_VALUE, -1, 0);
    table.offer(half, joins);
    table.advance(6, joins);
    half.set(Long.MIN_VALUE, CHECK, SERVER, -1, 3, Long.MIN_VALUE, 0);
    table.offer(
        half,
        new Joins() {
          @Override
          public void paired(Half caller, Half callee) {
            assertThat(caller.key()).isEqualTo(Long.MIN_VALUE);
            assertThat(caller.check()).isEqualTo(CHECK);
            assertThat(caller.side()).isEqualTo(CLIENT);
            assertThat(caller.head()).isEqualTo(Integer.MIN_VALUE);
            assertThat(caller.durationNanos()).isEqualTo(Long.MAX_VALUE);
            assertThat(caller.pane()).isEqualTo(-1);
            assertThat(caller.arrivalMillis()).isEqualTo(5);
            assertThat(caller.isPaired()).isFalse();
            assertThat(callee.arrivalMillis()).isEqualTo(6);
            joins.paired(caller, callee);
          }

          @Override
          public void expired(Half expired) {
            joins.expired(expired);
          }
        });

    assertThat(joins.take()).containsExactly(Integer.MIN_VALUE + " with -1");
  }

  @Test
  void fullTableRefusesHalvesWithoutAPartnerOnly() {
    for (int key = 0; key < 4; key++) {
      offer(key, CONSUMER, key);
    }

    assertThat(offer(9, CLIENT, 9)).isEqualTo(Outcome.OVERFLOWED);
    assertThat(offer(3, PRODUCER, 10)).isEqualTo(Outcome.PAIRED);
    assertThat(offer(3, PRODUCER, 11)).isEqualTo(Outcome.DUPLICATE);
    assertThat(offer(3, CONSUMER, 12)).isEqualTo(Outcome.PAIRED);
    assertThat(table.open()).isEqualTo(4);
  }

  @Test
  void timeDoesNotGoBack() {
    table.advance(1_000, joins);
    table.advance(900, joins);
    offer(KEY, CLIENT, 1);
    table.advance(1_000 + WAIT - 1, joins);

    assertThat(table.open()).isEqualTo(1);
    assertThat(RecordedChange.ofOpen(table).opened.getFirst().arrivalMillis()).isEqualTo(1_000);
  }

  /** A search through the consumers of the key would take minutes. */
  @Test
  void manyConsumersOfOneKeyWaitExpireAndArePaired() {
    int consumers = 400_000;
    HalfTable large = new HalfTable(consumers, WAIT, 1);
    for (int i = 0; i < consumers; i++) {
      if (i == consumers / 2) {
        large.advance(WAIT / 2, joins);
      }
      half.set(KEY, CHECK, CONSUMER, i, 0, 0, 0);
      large.offer(half, joins);
    }
    large.advance(WAIT, joins);
    assertThat(joins.take()).hasSize(consumers / 2).first().isEqualTo("0 expired");
    half.set(KEY, CHECK, PRODUCER, -1, 0, 0, 0);
    large.offer(half, joins);

    assertThat(joins.take()).hasSize(consumers / 2).first().isEqualTo("-1 with " + consumers / 2);
    assertThat(large.open()).isEqualTo(1);
  }

  @Test
  void nothingIsAllocatedForAHalf() {
    HalfTable steady = new HalfTable(1_000, WAIT, 1);
    HalfTable follower = new HalfTable(1_000, WAIT, 2);
    run(steady, follower, 0, 20_000);
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    long before = threads.getCurrentThreadAllocatedBytes();
    run(steady, follower, 20_000, 60_000);

    assertThat(threads.getCurrentThreadAllocatedBytes() - before).isLessThan(1_000);
    assertThat(steady.open()).isPositive().isEqualTo(follower.open());
  }

  /** Offers calls and messages, some without a partner, and ends windows. */
  private void run(HalfTable steady, HalfTable follower, int from, int to) {
    for (int i = from; i < to; i++) {
      steady.advance(i / 4, IGNORE);
      half.set(i, CHECK, i % 3 == 0 ? PRODUCER : CLIENT, i, i, i, 0);
      steady.offer(half, IGNORE);
      int key = i - i % 150;
      half.set(key, CHECK, key % 3 == 0 ? CONSUMER : SERVER, i, i, i, 0);
      steady.offer(half, IGNORE);
      if (i % 100 == 0) {
        steady.endWindow(follower);
      }
    }
    steady.endWindow(follower);
  }

  @Test
  void valuesOutOfRangeAreRefused() {
    assertThatIllegalArgumentException().isThrownBy(() -> new HalfTable(0, WAIT, 1));
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new HalfTable(HalfTable.MAX_CAPACITY + 1, WAIT, 1));
    assertThatIllegalArgumentException().isThrownBy(() -> new HalfTable(1, 0, 1));
    assertThatIllegalArgumentException().isThrownBy(() -> half.set(1, 1, 0, 0, 0, 0, 0));
    assertThatIllegalArgumentException().isThrownBy(() -> half.set(1, 1, 5, 0, 0, 0, 0));
    assertThatIllegalArgumentException().isThrownBy(() -> half.set(1, -1, 1, 0, 0, 0, 0));
    assertThatIllegalArgumentException().isThrownBy(() -> half.set(1, 1 << 16, 1, 0, 0, 0, 0));
    assertThatIllegalArgumentException().isThrownBy(() -> half.set(1, 1, 1, 0, -1, 0, 0));
  }

  private Outcome offer(long key, int side, int head) {
    half.set(key, CHECK, side, head, 0, 0, 0);
    return table.offer(half, joins);
  }
}
