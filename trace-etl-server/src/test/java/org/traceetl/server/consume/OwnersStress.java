package org.traceetl.server.consume;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.ZZ_Result;
import org.traceetl.server.window.QueueId;

/** Two workers reach for one queue at once: exactly one has it. */
@JCStressTest
@Outcome(
    id = {"true, false", "false, true"},
    expect = Expect.ACCEPTABLE,
    desc = "One has it.")
@Outcome(expect = Expect.FORBIDDEN, desc = "Both have it, or neither.")
@State
public class OwnersStress {
  private static final QueueId QUEUE = new QueueId("broker", 0);

  private final QueueOwners owners = new QueueOwners();

  @Actor
  public void one(ZZ_Result result) {
    result.r1 = owners.acquire(QUEUE);
  }

  @Actor
  public void other(ZZ_Result result) {
    result.r2 = owners.acquire(QUEUE);
  }
}
