package org.traceetl.agent.flow;

/**
 * Told once what became of an accepted payload, on a thread of the pipeline or the publisher: it
 * must not block.
 */
public interface Completion {
  /**
   * The outcome is known: every span accepted is confirmed by the broker.
   *
   * @param rejected spans of the payload that were malformed and will never be accepted
   * @param reason why they were, or empty; without data of the spans
   */
  void confirmed(int accepted, int rejected, String reason);

  /**
   * The whole payload is malformed; none of it was taken and a repeat cannot help.
   *
   * @param reason why, without data of the payload
   */
  void malformed(String reason);

  /**
   * Not confirmed (the agent stops, the broker refused it for good): the sender keeps or repeats
   * it.
   */
  void failed(String reason);
}
