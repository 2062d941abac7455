package org.traceetl.agent.source.payload;

import org.traceetl.agent.flow.Checkpoint;
import org.traceetl.agent.flow.Completion;
import org.traceetl.agent.flow.Intake;
import org.traceetl.agent.flow.Intake.Admission;

/**
 * The outcome of a payload without spans that deletes a position from the spool. If it fails, the
 * position stays, and the next start finds that it is obsolete.
 */
public final class DeletedPosition implements Completion {
  private final String name;
  private final Runnable then;

  private DeletedPosition(String name, Runnable then) {
    this.name = name;
    this.then = then;
  }

  /**
   * Offers the deletion of a position.
   *
   * @param source its name for metrics
   * @param name of the position
   * @param then runs on the pipeline's thread when the deletion is stored and survives a crash
   * @return false if the pipeline has no room
   */
  public static boolean offer(Intake intake, String source, String name, Runnable then) {
    return intake.offer(
            source, new byte[0], (payload, length, sink) -> {}, new DeletedPosition(name, then))
        == Admission.ACCEPTED;
  }

  @Override
  public Checkpoint checkpoint() {
    return new Checkpoint.Position(name, "");
  }

  @Override
  public void confirmed(int accepted, int rejected, String reason) {
    then.run();
  }

  @Override
  public void malformed(String reason) {}

  @Override
  public void failed(String reason) {}
}
