package org.traceetl.server.series;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;

class SpaceSavingTest {
  @Property(tries = 50)
  void noKeyIsCountedTooMuchAndAHeavyOneIsThere(@ForAll long seed) {
    Random random = new Random(seed);
    SpaceSaving sketch = new SpaceSaving();
    long heavy = random.nextLong();
    Map<Long, Long> truth = new HashMap<>();
    for (int i = 0; i < 50_000; i++) {
      long hash = random.nextInt(10) == 0 ? heavy : random.nextLong() % 5_000 * 0x9E37_79B9_7F4AL;
      long spans = random.nextInt(1, 3);
      sketch.add(hash, spans);
      truth.merge(hash, spans, Long::sum);
    }

    long found = 0;
    for (int counter = 0; counter < SpaceSaving.COUNTERS; counter++) {
      assertThat(sketch.least(counter))
          .isLessThanOrEqualTo(truth.getOrDefault(sketch.hash(counter), 0L));
      found = sketch.hash(counter) == heavy ? sketch.least(counter) : found;
    }
    assertThat(found).isGreaterThan(truth.get(heavy) / 2);
  }
}
