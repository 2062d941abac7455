package org.traceetl.server.edge;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;

class EdgeMeasureTest {
  /** Journals contain the numbers, which have four bits. */
  @Test
  void numbersAreAsKept() {
    List<EdgeMeasure> kept =
        List.of(
            EdgeMeasure.REQUESTS,
            EdgeMeasure.FAILED,
            EdgeMeasure.SERVER,
            EdgeMeasure.CLIENT,
            EdgeMeasure.MESSAGING,
            EdgeMeasure.LATENCY,
            EdgeMeasure.UNPAIRED_CLIENT,
            EdgeMeasure.UNPAIRED_SERVER,
            EdgeMeasure.DROPPED_CLIENT,
            EdgeMeasure.DROPPED_SERVER,
            EdgeMeasure.MOVED_CLIENT,
            EdgeMeasure.MOVED_SERVER);

    assertThat(EdgeMeasure.values()).containsExactlyElementsOf(kept);
    assertThat(IntStream.rangeClosed(1, 12).mapToObj(EdgeMeasure::of)).isEqualTo(kept);
    assertThat(IntStream.rangeClosed(1, 12).toArray())
        .isEqualTo(Arrays.stream(EdgeMeasure.values()).mapToInt(EdgeMeasure::kind).toArray());
  }

  @Property
  void otherNumbersHaveNone(@ForAll int kind) {
    EdgeMeasure measure = EdgeMeasure.of(kind);

    assertThat(measure == null).isEqualTo(kind < 1 || kind > 12);
  }
}
