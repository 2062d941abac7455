package org.traceetl.agent.source.ring;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.I_Result;

/** Two threads claim, pad and commit. The ring must contain each span once, and nothing else. */
@JCStressTest
@Outcome(id = "3", expect = Expect.ACCEPTABLE, desc = "Both spans, as they were written.")
@Outcome(expect = Expect.FORBIDDEN, desc = "A span is missing, damaged, or there twice.")
@State
public class RingWritersStress {
  private final StressedRing ring = StressedRing.take();

  /** Runs a thread of the application. */
  @Actor
  public void one() {
    ring.write(1);
  }

  /** Runs another thread. */
  @Actor
  public void other() {
    ring.write(2);
  }

  /** Reads as the agent. */
  @Arbiter
  public void read(I_Result result) {
    result.r1 = ring.read();
    ring.giveBack();
  }
}
