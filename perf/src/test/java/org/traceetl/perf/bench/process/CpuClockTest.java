package org.traceetl.perf.bench.process;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

final class CpuClockTest {
  @Test
  void pidZeroIsThisProcess() {
    CpuClock byNumber = new CpuClock(ProcessHandle.current().pid());
    CpuClock own = new CpuClock(0);

    long before = byNumber.nanos();
    long between = own.nanos();
    long after = byNumber.nanos();

    assertThat(between).isBetween(before, after);
    assertThat(before).isPositive();
  }

  @Test
  void endedProcessHasNoClock() throws Exception {
    Process ended = new ProcessBuilder("true").start();
    ended.waitFor();

    assertThatThrownBy(() -> new CpuClock(ended.pid()).nanos())
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining(Long.toString(ended.pid()));
  }
}
