package org.traceetl.server.features.edges;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.junit.jupiter.api.Test;
import org.traceetl.proto.EdgeQueues;
import org.traceetl.server.window.QueueId;

final class ListedQueuesTest {
  private static final List<QueueId> QUEUES =
      List.of(new QueueId("a", 0), new QueueId("a", 1), new QueueId("b", 0));

  /**
   * One look.
   *
   * @param minute when
   * @param failed whether it sees nothing
   */
  private record Look(long minute, Set<QueueId> present, boolean failed) {}

  @Property
  void queuesAreListedUntilAllLooksOfTenMinutesMissThem(@ForAll("looks") List<Look> looks) {
    ListedQueues queues = new ListedQueues();
    Set<QueueId> listed = Set.of();
    for (int i = 0; i < looks.size(); i++) {
      Look look = looks.get(i);
      if (look.failed) {
        queues.forget();
      } else {
        Set<QueueId> expected = new HashSet<>(look.present);
        for (QueueId queue : listed) {
          if (minutesMissing(queue, looks.subList(0, i + 1)) < 10) {
            expected.add(queue);
          }
        }
        listed = queues.look(listed, look.present, TimeUnit.MINUTES.toNanos(look.minute));
        assertThat(listed).isEqualTo(expected);
      }
    }
  }

  /** Returns the time from the first of the last looks that missed a queue to the last one. */
  private static long minutesMissing(QueueId queue, List<Look> looks) {
    long last = looks.getLast().minute;
    long first = last;
    for (Look look : looks.reversed()) {
      if (look.failed || look.present.contains(queue)) {
        break;
      }
      first = look.minute;
    }
    return last - first;
  }

  @Provide
  static Arbitrary<List<Look>> looks() {
    Arbitrary<Look> look =
        Combinators.combine(
                Arbitraries.longs().between(1, 6),
                Arbitraries.of(QUEUES).set(),
                Arbitraries.integers().between(0, 9))
            .as((minutes, present, failure) -> new Look(minutes, present, failure == 0));
    return look.list().ofMaxSize(30).map(ListedQueuesTest::oneAfterTheOther);
  }

  /** Returns looks whose minutes are those since the look before. */
  private static List<Look> oneAfterTheOther(List<Look> looks) {
    long[] minute = {0};
    return looks.stream()
        .map(look -> new Look(minute[0] += look.minute, look.present, look.failed))
        .toList();
  }

  @Test
  void aQueueThatAnotherServerListsAgainIsMissingFromThenOn() {
    ListedQueues queues = new ListedQueues();
    Set<QueueId> listed = Set.copyOf(QUEUES);
    long removedNanos = ListedQueues.REMOVED_AFTER.toNanos();
    assertThat(queues.look(listed, Set.of(), 0)).isEqualTo(listed);
    assertThat(queues.look(listed, Set.of(), removedNanos)).isEmpty();
    assertThat(queues.look(Set.of(), Set.of(), removedNanos + 1)).isEmpty();

    assertThat(queues.look(listed, Set.of(), removedNanos + 2)).isEqualTo(listed);
    assertThat(queues.look(listed, Set.of(), 2 * removedNanos + 2)).isEmpty();
  }

  @Test
  void aListHasNoMoreThanARecordContains() {
    ListedQueues queues = new ListedQueues();
    Set<QueueId> present = new HashSet<>(Set.of(new QueueId("n".repeat(256), 0)));
    IntStream.range(0, 2 * EdgeQueues.MAX_BROKERS)
        .forEach(broker -> present.add(new QueueId("b" + broker, 0)));
    Set<QueueId> listed = Set.of(new QueueId("z", 7));

    Set<QueueId> next = queues.look(listed, present, 0);
    assertThat(next).hasSize(EdgeQueues.MAX_BROKERS).containsAll(listed);
    assertThat(queues.look(next, present, 0)).isEqualTo(next);

    IntStream.range(1, 2 * EdgeQueues.MAX_QUEUES)
        .forEach(number -> present.add(new QueueId("b0", number)));
    assertThat(queues.look(next, present, 0)).hasSize(EdgeQueues.MAX_QUEUES).containsAll(next);
  }
}
