package org.traceetl.server.edge;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;

class ArrivalOrderTest {
  private static final int NUMBERS = 300;

  /** The oldest numbers often stay, so that places move together, and double. */
  @Property(tries = 300)
  void numbersStayInOrderHoweverManyLeave(@ForAll long seed) {
    Random random = new Random(seed);
    HalfRows rows = new HalfRows(NUMBERS);
    List<Integer> free = new ArrayList<>();
    for (int i = 0; i < NUMBERS; i++) {
      free.add(rows.add());
    }
    ArrivalOrder order = new ArrivalOrder(rows, Integer.MAX_VALUE - random.nextInt(2_000));
    List<Integer> before = new ArrayList<>();
    List<Integer> added = new ArrayList<>();
    int most = random.nextInt(1, NUMBERS);
    int kept = random.nextInt(4);
    for (int step = 0; step < 2_000; step++) {
      int size = before.size() + added.size();
      if (size < most && (size <= kept || random.nextBoolean())) {
        int number = free.remove(random.nextInt(free.size()));
        order.add(number);
        added.add(number);
      } else if (size > kept) {
        int at = random.nextInt(kept, size);
        int number = at < before.size() ? before.remove(at) : added.remove(at - before.size());
        order.remove(number);
        free.add(number);
      }
      if (random.nextInt(100) == 0) {
        order.beginWindow();
        before.addAll(added);
        added.clear();
      }
      assertThat(numbers(order, order.window())).isEqualTo(added);
      List<Integer> all = new ArrayList<>(before);
      all.addAll(added);
      assertThat(numbers(order, order.first())).isEqualTo(all);
      assertThat(order.size()).isEqualTo(all.size());
      if (!all.isEmpty()) {
        assertThat(order.at(order.first())).isEqualTo(all.getFirst());
        assertThat(order.at(order.end() - 1)).isEqualTo(all.getLast());
        int any = random.nextInt(all.size());
        assertThat(order.isNew(all.get(any))).isEqualTo(any >= before.size());
      }
    }
  }

  private static List<Integer> numbers(ArrivalOrder order, int from) {
    List<Integer> numbers = new ArrayList<>();
    for (int place = from; place != order.end(); place++) {
      if (order.at(place) != HalfRows.NONE) {
        numbers.add(order.at(place));
      }
    }
    return numbers;
  }
}
