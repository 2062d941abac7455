package org.traceetl.server.edge;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.traceetl.proto.EdgeKey;
import org.traceetl.proto.EdgeQueues;
import org.traceetl.proto.EdgeSlots;
import org.traceetl.server.window.QueueId;

class QueueMovesTest {
  private static final QueueId KEPT = new QueueId("a", 0);
  private static final QueueId ADDED = new QueueId("b", 0);
  private static final long DECIDED = 1_000_000;
  private static final long WAIT = 30_000;
  private static final long FOLLOWED = DECIDED + WAIT + QueueMoves.FOLLOWED_MILLIS;

  private static EdgeQueues list(long decidedMillis, String... brokers) {
    Map<String, EdgeQueues.Queues> queues = new TreeMap<>();
    for (String broker : brokers) {
      queues.put(broker, new EdgeQueues.Queues(0));
    }
    return new EdgeQueues(decidedMillis, decidedMillis, queues);
  }

  /** Returns a key whose queue is that of a broker, by the list of both. */
  private static long key(String broker) {
    EdgeSlots slots = new EdgeSlots(list(1, "a", "b"));
    int slot = 0;
    while (!slots.broker(slots.place(slot)).equals(broker)) {
      slot++;
    }
    return (long) slot << Long.SIZE - Integer.numberOfTrailingZeros(EdgeKey.SLOTS);
  }

  private static boolean isMoved(QueueMoves moves, QueueId queue, String broker, long millis) {
    return moves.of(queue, WAIT).isMoved(key(broker), millis);
  }

  @Test
  void aNewQueueSeparatesTheHalvesOfItsKeysOnly() {
    QueueMoves moves = QueueMoves.NONE.after(list(1, "a")).after(list(DECIDED, "a", "b"));

    assertThat(isMoved(moves, KEPT, "b", DECIDED - 1)).isTrue();
    assertThat(isMoved(moves, KEPT, "a", DECIDED - 1)).isFalse();
    assertThat(isMoved(moves, ADDED, "b", FOLLOWED - 1)).isTrue();
    assertThat(isMoved(moves, ADDED, "b", FOLLOWED)).isFalse();
  }

  /** Its agent followed the earlier list, however late that is. */
  @Test
  void aHalfInAQueueThatIsNotThatOfItsKeyHasMoved() {
    QueueMoves moves = QueueMoves.NONE.after(list(DECIDED, "a", "b"));

    assertThat(isMoved(moves, KEPT, "b", 10 * FOLLOWED)).isTrue();
    assertThat(isMoved(moves, ADDED, "b", DECIDED)).isFalse();
  }

  @Test
  void aRemovedQueueSeparatesTheHalvesOfTheQueuesThatGetItsKeys() {
    QueueMoves moves = QueueMoves.NONE.after(list(1, "a", "b")).after(list(DECIDED, "a"));

    assertThat(isMoved(moves, KEPT, "b", DECIDED)).isTrue();
    assertThat(isMoved(moves, KEPT, "a", DECIDED)).isFalse();
  }

  @Test
  void anEarlierChangeCountsAfterFurtherOnes() {
    QueueMoves moves =
        QueueMoves.NONE
            .after(list(1, "a"))
            .after(list(DECIDED, "a", "b"))
            .after(list(DECIDED + 1_000, "a", "b", "c"))
            .after(list(DECIDED + 2_000))
            .after(list(DECIDED + 3_000, "a", "b"));

    assertThat(isMoved(moves, ADDED, "b", FOLLOWED - 1)).isTrue();
    assertThat(isMoved(moves, ADDED, "b", FOLLOWED + 3_000)).isFalse();
    assertThat(isMoved(moves, KEPT, "b", DECIDED)).isTrue();
  }

  @Test
  void nothingHasMovedWithoutAChangeOrAList() {
    assertThat(isMoved(QueueMoves.NONE, KEPT, "b", DECIDED)).isFalse();
    QueueMoves moves = QueueMoves.NONE.after(list(1, "a")).after(list(DECIDED, "a"));
    assertThat(isMoved(moves, KEPT, "b", DECIDED)).isFalse();
  }

  /** A server may know a newer list later than agents do. */
  @Test
  void halvesOfAQueueThatTheListLacksHaveNotMoved() {
    QueueMoves moves = QueueMoves.NONE.after(list(1, "a"));

    assertThat(isMoved(moves, ADDED, "b", DECIDED)).isFalse();
  }
}
