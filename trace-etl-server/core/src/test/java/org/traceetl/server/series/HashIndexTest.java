package org.traceetl.server.series;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;

class HashIndexTest {
  /** Adds absent numbers and removes present ones; few hashes, so many collide. */
  @Property
  void holdsWhatAMapHolds(
      @ForAll @Size(max = 300) List<@IntRange(min = 0, max = 60) Integer> numbers) {
    HashIndex index = new HashIndex(2);
    Map<Integer, Integer> model = new HashMap<>();
    for (int number : numbers) {
      int hash = (number % 7) * 0x4000_0001 - 3;
      if (model.remove(number) != null) {
        index.remove(hash, number);
      } else {
        model.put(number, hash);
        index.add(hash, number);
      }
      assertThat(index.size()).isEqualTo(model.size());
    }
    for (int number = 0; number <= 60; number++) {
      assertThat(contains(index, (number % 7) * 0x4000_0001 - 3, number))
          .as("number %d", number)
          .isEqualTo(model.containsKey(number));
    }
  }

  private static boolean contains(HashIndex index, int hash, int number) {
    for (int slot = index.first(hash); index.isTaken(slot); slot = index.next(slot)) {
      if (index.hasHash(slot, hash) && index.number(slot) == number) {
        return true;
      }
    }
    return false;
  }
}
