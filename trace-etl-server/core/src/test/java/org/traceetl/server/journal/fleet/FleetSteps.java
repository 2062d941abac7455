package org.traceetl.server.journal.fleet;

/** Steps a follower by hand, in place of its threads. */
public final class FleetSteps {
  private FleetSteps() {}

  /**
   * Does the due work of all threads of a follower that is not started.
   *
   * @return nanoseconds until work may be due; 0 for now
   */
  public static long step(FleetFollower follower) throws InterruptedException {
    return follower.step();
  }
}
