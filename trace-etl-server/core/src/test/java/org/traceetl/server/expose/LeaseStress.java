package org.traceetl.server.expose;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.ZZ_Result;

/**
 * A lease is extended late while the fold thread builds a page. The queue must be on that page, or
 * the owner must be asked for another page. A queue that stays hidden despite its lease is
 * forbidden.
 */
@JCStressTest
@Outcome(id = "true, false", expect = Expect.ACCEPTABLE, desc = "On the page.")
@Outcome(id = "false, true", expect = Expect.ACCEPTABLE, desc = "On the next one.")
@Outcome(id = "true, true", expect = Expect.ACCEPTABLE, desc = "On both.")
@Outcome(expect = Expect.FORBIDDEN, desc = "Hidden for good.")
@State
public class LeaseStress {
  private final Lease lease = new Lease(0);

  public LeaseStress() {
    lease.extend(10);
    lease.show(5);
  }

  /** Runs the fold thread after the first lease has expired. */
  @Actor
  public void fold(ZZ_Result result) {
    result.r1 = lease.show(20);
  }

  @Actor
  public void owner(ZZ_Result result) {
    result.r2 = lease.extend(30);
  }
}
