package org.traceetl.server.edge;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.traceetl.server.edge.Half.CLIENT;
import static org.traceetl.server.edge.Half.CONSUMER;
import static org.traceetl.server.edge.Half.PRODUCER;
import static org.traceetl.server.edge.Half.SERVER;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;

class HalfTableRecoveryTest {
  private static final int CAPACITY = 6;
  private static final int END = HalfTable.MAX_CAPACITY;
  private static final long WAIT = 20;

  private final HalfTable table = new HalfTable(CAPACITY, WAIT, 1);
  private final RecordedJoins joins = new RecordedJoins();
  private final Half half = new Half();

  /** Input of tables: equal seeds give equal input. */
  private static final class Input {
    private final Random random;
    private final Half half = new Half();
    private long millis;
    private int head;

    Input(long seed, long millis) {
      random = new Random(seed);
      this.millis = millis;
    }

    List<String> offerSome(HalfTable table, RecordedJoins joins) {
      List<String> outcomes = new ArrayList<>();
      for (int i = random.nextInt(30); i > 0; i--) {
        millis += random.nextInt(4);
        table.advance(millis, joins);
        half.set(
            random.nextInt(4),
            random.nextInt(2),
            random.nextInt(CLIENT, CONSUMER + 1),
            head++,
            random.nextInt(9),
            random.nextInt(9),
            random.nextInt(9));
        outcomes.add(table.offer(half, joins).name());
        outcomes.addAll(joins.take());
      }
      return outcomes;
    }
  }

  @Property
  void snapshotAndLaterChangesMakeATableThatBehavesAlike(@ForAll long seed) {
    Random random = new Random(seed);
    int capacity = random.nextInt(1, 12);
    HalfTable live = new HalfTable(capacity, WAIT, random.nextLong());
    HalfTable follower = new HalfTable(capacity, WAIT, random.nextLong());
    HalfTable restored = new HalfTable(capacity, WAIT, random.nextLong());
    Input input = new Input(random.nextLong(), random.nextLong(1L << 40));
    int windows = random.nextInt(1, 8);
    int snapshot = random.nextInt(windows);
    for (int window = 0; window < windows; window++) {
      input.offerSome(live, joins);
      RecordedChange change = RecordedChange.ofWindow(live);
      change.applyTo(follower);
      if (window == snapshot) {
        RecordedChange.ofOpen(live).applyTo(restored);
      } else if (window > snapshot) {
        change.applyTo(restored);
      }
    }
    assertThat(RecordedChange.ofOpen(follower).parts())
        .isEqualTo(RecordedChange.ofOpen(live).parts());

    long next = random.nextLong();
    long millis = RecordedChange.ofOpen(live).streamMillis;
    Input first = new Input(next, millis);
    Input second = new Input(next, millis);
    for (int window = 0; window < 4; window++) {
      assertThat(second.offerSome(restored, joins)).isEqualTo(first.offerSome(live, joins));
      assertThat(opened(restored)).isEqualTo(opened(live));
      for (int side = CLIENT; side <= CONSUMER; side++) {
        assertThat(restored.waiting(side)).isEqualTo(live.waiting(side));
      }
      RecordedChange.ofWindow(live);
      restored.endWindow(follower);
      assertThat(RecordedChange.ofOpen(follower).parts())
          .isEqualTo(RecordedChange.ofOpen(restored).parts());
    }
  }

  /** Returns the open halves without their numbers. */
  private static List<RecordedChange.Opened> opened(HalfTable table) {
    return RecordedChange.ofOpen(table).opened.stream()
        .map(each ->
            new RecordedChange.Opened(
                0,
                each.key(),
                each.check(),
                each.side(),
                each.head(),
                each.durationNanos(),
                each.pane(),
                each.messageMicros(),
                each.arrivalMillis(),
                each.paired()))
        .toList();
  }

  @Property
  void changeIsTheDifferenceOfTwoStates(@ForAll long seed) {
    Random random = new Random(seed);
    HalfTable live = new HalfTable(random.nextInt(1, 12), WAIT, random.nextLong());
    Input input = new Input(random.nextLong(), 0);
    Map<Integer, RecordedChange.Opened> before = new HashMap<>();
    for (int window = 0; window < 6; window++) {
      input.offerSome(live, joins);
      RecordedChange change = RecordedChange.ofWindow(live);
      Map<Integer, RecordedChange.Opened> after = new HashMap<>();
      RecordedChange.ofOpen(live).opened.forEach(each -> after.put(each.head(), each));

      Set<Integer> left = new TreeSet<>();
      Set<Integer> paired = new TreeSet<>();
      before.forEach((head, each) -> {
        if (!after.containsKey(head)) {
          left.add(each.number());
        } else if (after.get(head).paired() != each.paired()) {
          paired.add(each.number());
        }
      });
      assertThat(change.left).containsExactlyInAnyOrderElementsOf(left);
      assertThat(change.paired).containsExactlyInAnyOrderElementsOf(paired);
      assertThat(change.opened)
          .containsExactlyInAnyOrderElementsOf(
              after.values().stream().filter(each -> !before.containsKey(each.head())).toList());
      before.clear();
      before.putAll(after);
    }
  }

  @Test
  void halfThatArrivesAndLeavesInAWindowIsInNoChange() {
    offer(1, CLIENT);
    offer(1, SERVER);
    offer(2, CONSUMER);
    table.advance(WAIT, joins);

    RecordedChange change = RecordedChange.ofWindow(table);
    assertThat(change.streamMillis).isEqualTo(WAIT);
    assertThat(change.left).isEmpty();
    assertThat(change.paired).isEmpty();
    assertThat(change.opened).isEmpty();
  }

  @Test
  void changeHasTheFirstPairOfAProducerOnly() {
    offer(1, PRODUCER);
    int number = RecordedChange.ofWindow(table).opened.getFirst().number();
    offer(1, CONSUMER);
    offer(1, CONSUMER);
    assertThat(RecordedChange.ofWindow(table).paired).containsExactly(number);
    offer(1, CONSUMER);
    assertThat(RecordedChange.ofWindow(table).paired).isEmpty();
  }

  @Test
  void changeDoesNotPairAProducerThatLeft() {
    offer(1, PRODUCER);
    int number = RecordedChange.ofWindow(table).opened.getFirst().number();
    offer(1, CONSUMER);
    table.advance(WAIT, joins);
    offer(2, PRODUCER);

    RecordedChange change = RecordedChange.ofWindow(table);
    assertThat(change.left).containsExactly(number);
    assertThat(change.paired).isEmpty();
    assertThat(change.opened).hasSize(1);
  }

  @Test
  void halvesOfAnyNumbersAreRestored() {
    table.advanced(9);
    table.opened(CAPACITY - 1, half(1, CLIENT, 3, false));
    table.opened(2, half(2, PRODUCER, 3, true));
    table.left(CAPACITY - 1);
    for (int key = 10; key < 10 + CAPACITY - 1; key++) {
      assertThat(offer(key, SERVER)).isEqualTo(Outcome.WAITING);
    }

    assertThat(offer(20, SERVER)).isEqualTo(Outcome.OVERFLOWED);
    assertThat(RecordedChange.ofOpen(table).opened)
        .extracting(RecordedChange.Opened::number)
        .containsExactlyInAnyOrder(0, 1, 2, 3, 4, 5);
  }

  @Test
  void unknownNumbersAreRefused() {
    table.advanced(9);
    table.opened(1, half(1, CLIENT, 3, false));

    for (int number : new int[] {Integer.MIN_VALUE, -1, 0, 2, END, Integer.MAX_VALUE}) {
      assertRefused(() -> table.left(number), "Half " + number + " must be open");
      assertRefused(() -> table.paired(number), "Half " + number + " must be open");
    }
    table.left(1);
    assertRefused(() -> table.left(1), "Half 1 must be open");
  }

  @Test
  void numbersThatAreTakenOrExceedAnyCapacityAreRefused() {
    table.advanced(9);
    table.opened(1, half(1, CLIENT, 3, false));
    Half other = half(2, CLIENT, 3, false);

    assertRefused(() -> table.opened(1, other), "Half 1 is open already");
    assertRefused(() -> table.opened(-1, other), "number from 0 to 2097151, not -1");
    assertRefused(() -> table.opened(END, other), "number from 0 to 2097151, not 2097152");
  }

  @Test
  void halvesOfALargerTableAreRestoredAndNoFurtherOnesOpen() {
    table.advanced(9);
    for (int number = 0; number < 2 * CAPACITY; number++) {
      table.opened(3 * number, half(number, CLIENT, 3, false));
    }

    assertThat(table.open()).isEqualTo(2 * CAPACITY);
    assertThat(offer(100, SERVER)).isEqualTo(Outcome.OVERFLOWED);
    for (int key = 0; key <= CAPACITY; key++) {
      assertThat(offer(key, SERVER)).isEqualTo(Outcome.PAIRED);
    }
    assertThat(offer(100, SERVER)).isEqualTo(Outcome.WAITING);
    assertThat(offer(101, SERVER)).isEqualTo(Outcome.OVERFLOWED);
  }

  @Test
  void halvesThatCannotBeOpenTogetherAreRefused() {
    table.advanced(9);
    table.opened(0, half(1, CLIENT, 3, false));
    table.opened(1, half(2, SERVER, 3, false));
    table.opened(2, half(2, CONSUMER, 3, false));
    table.opened(3, half(2, CONSUMER, 3, false));

    for (int side = CLIENT; side <= CONSUMER; side++) {
      Half ofCaller = half(1, side, 3, false);
      assertRefused(() -> table.opened(4, ofCaller), "has the key of another open half");
    }
    for (int side = CLIENT; side <= PRODUCER; side++) {
      Half ofCallees = half(2, side, 3, false);
      assertRefused(() -> table.opened(4, ofCallees), "has the key of another open half");
    }
  }

  @Test
  void calleesAreNeverOpenAndPaired() {
    table.advanced(9);
    table.opened(0, half(1, SERVER, 3, false));
    table.opened(1, half(2, CLIENT, 3, false));
    table.paired(1);

    assertRefused(() -> table.opened(4, half(4, SERVER, 3, true)), "must not be open and paired");
    assertRefused(() -> table.opened(4, half(4, CONSUMER, 3, true)), "must not be open and paired");
    assertRefused(() -> table.paired(0), "must be a caller that was not paired");
    assertRefused(() -> table.paired(1), "must be a caller that was not paired");
  }

  @Test
  void timesOutOfOrderAreRefused() {
    assertRefused(() -> table.advanced(-1), "at least 0, not -1");
    table.advanced(9);
    table.opened(0, half(1, SERVER, 3, false));

    assertRefused(() -> table.advanced(8), "at least 9, not 8");
    assertRefused(() -> table.opened(1, half(2, SERVER, 2, false)), "from 3 to 9, not at 2");
    assertRefused(() -> table.opened(1, half(2, SERVER, 10, false)), "from 3 to 9, not at 10");
  }

  @Test
  void changeWithinAWindowIsRefused() {
    offer(1, CLIENT);
    assertThatIllegalStateException().isThrownBy(() -> table.advanced(1));
    table.endWindow(new RecordedChange());
    table.advanced(1);
    offer(1, SERVER);
    assertThatIllegalStateException().isThrownBy(() -> table.left(0));
    table.endWindow(new RecordedChange());
    table.opened(0, half(2, PRODUCER, 1, false));
    offer(2, CONSUMER);
    assertThatIllegalStateException().isThrownBy(() -> table.paired(0));
  }

  @Property
  void partsThatAreRefusedChangeNothing(@ForAll long seed) {
    Random random = new Random(seed);
    HalfTable restored = new HalfTable(CAPACITY, WAIT, random.nextLong());
    for (int i = 0; i < 60; i++) {
      List<Object> before = RecordedChange.ofOpen(restored).parts();
      try {
        applyAnyPart(restored, random, i);
      } catch (InconsistentChangeException e) {
        assertThat(RecordedChange.ofOpen(restored).parts()).isEqualTo(before);
      }
    }
    int open = restored.open();
    restored.advance(1_000, joins);

    assertThat(joins.take()).hasSize(open);
    assertThat(restored.open()).isZero();
    for (int side = CLIENT; side <= CONSUMER; side++) {
      assertThat(restored.waiting(side)).isZero();
    }
  }

  private static void applyAnyPart(HalfTable restored, Random random, int step) {
    int number = random.nextInt(CAPACITY);
    switch (random.nextInt(6)) {
      case 0 -> restored.advanced(step - 1 + random.nextInt(3));
      case 1 -> restored.left(number);
      case 2 -> restored.paired(number);
      default -> {
        int side = random.nextInt(CLIENT, CONSUMER + 1);
        boolean paired = random.nextInt(4) == 0;
        restored.opened(number, half(random.nextInt(4), side, random.nextInt(step + 1), paired));
      }
    }
  }

  private static Half half(long key, int side, long arrivalMillis, boolean paired) {
    Half made = new Half();
    made.set(key, 0, side, 0, 0, 0, 0);
    made.arrive(arrivalMillis, paired);
    return made;
  }

  private Outcome offer(long key, int side) {
    half.set(key, 0, side, 0, 0, 0, 0);
    return table.offer(half, joins);
  }

  private static void assertRefused(ThrowingCallable part, String message) {
    assertThatThrownBy(part)
        .isInstanceOf(InconsistentChangeException.class)
        .hasMessageContaining(message);
  }
}
