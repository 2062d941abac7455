package org.traceetl.perf.systest;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.traceetl.testkit.PageSample;

final class PageSampleTest {
  @Test
  void samplesHaveNameLabelsAndValueWithoutExemplars() {
    List<PageSample> samples =
        PageSample.of(
            """
            # HELP calls_total Calls.
            calls_total{span="GET /{id} \\"x\\"",kind="A"} 3.0
            calls_total{kind="B",span="b"} 4
            up 1
            duration_bucket{le="+Inf",} 9 # {trace_id="00"} 1.5
            limit{le="1"} +Inf
            # EOF
            """);

    assertThat(samples).extracting(PageSample::value).containsExactly(3.0, 4.0, 1.0, 9.0, 1 / 0.0);
    assertThat(samples.get(3).labels()).isEqualTo(Map.of("le", "+Inf"));
    assertThat(PageSample.sum(samples, "calls_total")).isEqualTo(7);
    assertThat(PageSample.sums(samples, "calls_total"))
        .isEqualTo(
            Map.of(
                "calls_total{kind=\"A\",span=\"GET /{id} \\\"x\\\"\"}", 3.0,
                "calls_total{kind=\"B\",span=\"b\"}", 4.0));
  }
}
