package org.traceetl.agent.source.ring;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.ZZ_Result;

/**
 * The agent goes to sleep while a thread of the application writes. The agent must see the span
 * before it sleeps, or the application must wake it, or both.
 */
@JCStressTest
@Outcome(id = "true, true", expect = Expect.ACCEPTABLE, desc = "Seen.")
@Outcome(id = "true, false", expect = Expect.ACCEPTABLE, desc = "Seen, and woken.")
@Outcome(id = "false, false", expect = Expect.ACCEPTABLE, desc = "Woken.")
@Outcome(id = "false, true", expect = Expect.FORBIDDEN, desc = "It sleeps beside a span.")
@State
public class RingSleepStress {
  private final StressedRing ring = StressedRing.take();

  /** Runs the application. */
  @Actor
  public void write() {
    ring.write(1);
  }

  /** Runs the agent. */
  @Actor
  public void sleep(ZZ_Result result) {
    result.r1 = ring.findsOneBeforeItSleeps();
  }

  /** Checks whether the agent still sleeps. */
  @Arbiter
  public void look(ZZ_Result result) {
    result.r2 = ring.isAsleep();
    ring.giveBack();
  }
}
