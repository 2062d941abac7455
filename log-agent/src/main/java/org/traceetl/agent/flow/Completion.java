package org.traceetl.agent.flow;

/**
 * Told once what became of an accepted payload, on a thread of the pipeline or the publisher: it
 * must not block.
 */
public interface Completion {
  /**
   * The outcome is known: every span accepted is confirmed by the broker. A repeat would count them
   * again and could not help the others.
   *
   * @param rejected spans that were malformed, or that the broker refused for good
   * @param reason why they were, or empty; without data of the spans
   */
  void confirmed(int accepted, int rejected, String reason);

  /**
   * The whole payload is malformed; none of it was taken and a repeat cannot help.
   *
   * @param reason why, without data of the payload
   */
  void malformed(String reason);

  /** Not confirmed, as when the agent stops: the sender keeps or repeats it. */
  void failed(String reason);
}
