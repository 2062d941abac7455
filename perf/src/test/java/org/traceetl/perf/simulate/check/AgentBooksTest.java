package org.traceetl.perf.simulate.check;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.traceetl.testkit.PageSample;

final class AgentBooksTest {
  private static final String BOUNDED =
      """
      trace_etl_agent_spool_bytes %s
      trace_etl_agent_spool_limit_bytes 10
      """;

  private final List<String> failures = new ArrayList<>();

  @Test
  void aSpoolAboveItsLimitIsFound() {
    checkBounds("10");
    assertThat(failures).isEmpty();

    checkBounds("11");
    checkBounds("NaN");

    assertThat(failures)
        .containsExactly(
            "spool_bytes of agent-1 is 11, above 10", "spool_bytes of agent-1 is NaN, above 10");
  }

  @ParameterizedTest
  @CsvSource({"0, 0", "11, 1", "12, 0"})
  void batchesAboveLimitAndRecoveredOnesAreFound(double recovered, int found) {
    List<PageSample> page =
        PageSample.of(
            """
            trace_etl_agent_spool_batches %d
            trace_etl_agent_spool_limit_batches 10
            """
                .formatted(recovered == 0 ? 10 : 12));

    AgentBooks.checkBounds("agent-1", page, recovered, failures::add);

    assertThat(failures).hasSize(found);
  }

  @Test
  void spansThatDisappearAreFound() {
    AgentBooks.checkBalance(
        "agent-1",
        PageSample.of(
            """
            trace_etl_agent_spans_received_total 3
            trace_etl_agent_spans_accepted_total 3
            trace_etl_agent_spans_published_total 2
            """),
        failures::add);

    assertThat(failures)
        .containsExactly(
            "agent-1: spans accepted and recovered are 3, but the counters of their outcomes sum to 2");
  }

  private void checkBounds(String bytes) {
    AgentBooks.checkBounds("agent-1", PageSample.of(BOUNDED.formatted(bytes)), 0, failures::add);
  }
}
