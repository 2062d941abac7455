package org.traceetl.server.features.pages;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashSet;
import java.util.List;
import java.util.Set;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;

class LongSetTest {
  @Property(tries = 200)
  void behavesAsASet(@ForAll("steps") List<Long> steps) {
    var set = new LongSet();
    Set<Long> model = new HashSet<>();
    for (long step : steps) {
      // Few values, many of them with the same home, so that chains form and break.
      long value = (Math.abs(step) % 40) << (step % 2 == 0 ? 0 : 32);
      if (step > 0) {
        assertThat(set.add(value)).isEqualTo(model.add(value));
      } else {
        set.remove(value);
        model.remove(value);
      }
      assertThat(set.size()).isEqualTo(model.size());
    }
    for (long value : model) {
      assertThat(set.add(value)).isFalse();
    }
  }

  @Provide
  Arbitrary<List<Long>> steps() {
    return Arbitraries.longs().between(-1_000_000, 1_000_000).list().ofMaxSize(400);
  }
}
