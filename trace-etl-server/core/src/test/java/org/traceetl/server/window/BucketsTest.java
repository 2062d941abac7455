package org.traceetl.server.window;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Set;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.LongRange;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.Test;
import org.traceetl.server.config.HistogramConfig;

class BucketsTest {
  @Property
  void findsWhatALinearScanFinds(
      @ForAll @Size(min = 1, max = 40) Set<@LongRange(min = 1) Long> bounds,
      @ForAll @LongRange(min = 0) long nanos) {
    long[] rising = bounds.stream().mapToLong(Long::longValue).sorted().toArray();
    Buckets buckets = new Buckets(rising);

    assertThat(buckets.of(nanos)).isEqualTo(scan(rising, nanos));
    for (long bound : rising) {
      assertThat(buckets.of(bound)).isEqualTo(scan(rising, bound));
      assertThat(buckets.of(bound - 1)).isEqualTo(scan(rising, bound - 1));
      if (bound < Long.MAX_VALUE) {
        assertThat(buckets.of(bound + 1)).isEqualTo(scan(rising, bound + 1));
      }
    }
  }

  private static int scan(long[] bounds, long nanos) {
    int bucket = 0;
    while (bucket < bounds.length && nanos > bounds[bucket]) {
      bucket++;
    }
    return bucket;
  }

  @Test
  void aBoundBelongsToItsBucket() {
    Buckets buckets = new Buckets(new HistogramConfig(null).boundsNanos());

    assertThat(buckets.count()).isEqualTo(17);
    assertThat(buckets.of(0)).isZero();
    assertThat(buckets.of(2_000_000)).isZero();
    assertThat(buckets.of(2_000_001)).isEqualTo(1);
    assertThat(buckets.of(15_000_000_000L)).isEqualTo(15);
    assertThat(buckets.of(15_000_000_001L)).isEqualTo(16);
    assertThat(buckets.of(Long.MAX_VALUE)).isEqualTo(16);
  }
}
