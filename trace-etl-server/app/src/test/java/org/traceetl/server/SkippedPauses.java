package org.traceetl.server;

import java.time.InstantSource;
import java.util.concurrent.atomic.AtomicLong;
import org.traceetl.common.Clocks;

/** Clocks of commands whose pauses take no time. */
final class SkippedPauses {
  private SkippedPauses() {}

  /**
   * @param inPause runs in each pause
   */
  static Clocks clocks(Clocks.Pause inPause) {
    AtomicLong skippedNanos = new AtomicLong();
    return new Clocks(
        () -> System.nanoTime() + skippedNanos.get(),
        InstantSource.system(),
        nanos -> {
          skippedNanos.addAndGet(nanos);
          inPause.nanos(nanos);
        });
  }
}
