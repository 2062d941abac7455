package org.traceetl.agent.source.ring;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.IIZ_Result;

/**
 * The agent reads and clears while a thread of the application writes. It must read whole spans in
 * their order, read the rest later, and leave zeros.
 */
@JCStressTest
@Outcome(id = "0, 3, true", expect = Expect.ACCEPTABLE, desc = "All later.")
@Outcome(id = "1, 2, true", expect = Expect.ACCEPTABLE, desc = "The first, then the second.")
@Outcome(id = "3, 0, true", expect = Expect.ACCEPTABLE, desc = "All at once.")
@Outcome(expect = Expect.FORBIDDEN, desc = "A span is missing, damaged, or there twice.")
@State
public class RingReadStress {
  private final StressedRing ring = StressedRing.take();

  /** Runs the application. */
  @Actor
  public void write() {
    ring.write(1);
    ring.write(2);
  }

  /** Runs the agent. */
  @Actor
  public void read(IIZ_Result result) {
    result.r1 = ring.read();
  }

  /** Reads the rest as the agent. */
  @Arbiter
  public void rest(IIZ_Result result) {
    result.r2 = ring.read();
    result.r3 = ring.isClear();
    ring.giveBack();
  }
}
