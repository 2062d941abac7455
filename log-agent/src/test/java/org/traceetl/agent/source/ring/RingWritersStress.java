package org.traceetl.agent.source.ring;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.I_Result;

/** Two threads claim, pad and commit. Both spans are there, each once, and nothing else. */
@JCStressTest
@Outcome(id = "3", expect = Expect.ACCEPTABLE, desc = "Both spans, as they were written.")
@Outcome(expect = Expect.FORBIDDEN, desc = "A span is missing, damaged, or there twice.")
@State
public class RingWritersStress {
  private final StressedRing ring = StressedRing.take();

  /** A thread of the application. */
  @Actor
  public void one() {
    ring.write(1);
  }

  /** Another one. */
  @Actor
  public void other() {
    ring.write(2);
  }

  /** The agent, afterwards. */
  @Arbiter
  public void read(I_Result result) {
    result.r1 = ring.read();
    ring.giveBack();
  }
}
