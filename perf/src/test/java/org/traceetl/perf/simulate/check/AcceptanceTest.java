package org.traceetl.perf.simulate.check;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.traceetl.testkit.PageSample;

final class AcceptanceTest {
  private static final String PAGE =
      """
      trace_etl_agent_spans_accepted_total %d
      trace_etl_agent_spool_bytes %d
      trace_etl_agent_spool_limit_bytes 100
      trace_etl_agent_spool_batches 0
      trace_etl_agent_spool_limit_batches 100
      """;
  private static final int EVERY_SECONDS = 10;

  private final List<String> failures = new ArrayList<>();
  private final Acceptance acceptance = new Acceptance("agent-1", failures::add);
  private int seconds;

  @Test
  void anAgentThatRefusesForMoreThanAMinuteIsFound() {
    read("agent-1.1", 7, 10, true, 8, 0);

    assertThat(failures)
        .containsExactly(
            "agent-1 has stored no request for 70 s, although its disk and its spool are sound");
  }

  @Test
  void anAgentMayRefuseWhileItsDiskFailsOrItsSpoolIsFull() {
    read("agent-1.1", 7, 10, false, 20, 0);
    read("agent-1.1", 7, 50, true, 20, 0);
    assertThat(failures).isEmpty();

    read("agent-1.1", 7, 10, true, 7, 0);

    assertThat(failures).hasSize(1);
  }

  @Test
  void theMinuteStartsAgainAfterARestartAndAPause() {
    read("agent-1.1", 7, 10, true, 7, 0);
    read("agent-1.2", 7, 10, true, 7, 0);
    seconds += 2 * EVERY_SECONDS;
    read("agent-1.2", 7, 10, true, 7, 0);

    assertThat(failures).isEmpty();
  }

  @Test
  void aProcessThatHasAcceptedNothingMayLackQueues() {
    read("agent-1.1", 0, 10, true, 20, 0);

    assertThat(failures).isEmpty();
  }

  @Test
  void anAgentMayHaveNothingToStore() {
    for (int i = 0; i < 20; i++) {
      read("agent-1.1", 7, 10, true, 1, seconds);
    }

    assertThat(failures).isEmpty();
  }

  private void read(
      String process, int accepted, int spoolBytes, boolean diskWorks, int times, int waiting) {
    for (int i = 0; i < times; i++) {
      acceptance.read(
          process,
          TimeUnit.SECONDS.toNanos(seconds),
          PageSample.of(PAGE.formatted(accepted, spoolBytes)),
          diskWorks,
          TimeUnit.SECONDS.toNanos(waiting));
      seconds += EVERY_SECONDS;
    }
  }
}
