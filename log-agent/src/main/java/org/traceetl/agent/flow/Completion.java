package org.traceetl.agent.flow;

/** Told once what became of an accepted payload, on the pipeline's thread: it must not block. */
public interface Completion {
  /**
   * What is to be kept together with the payload's spans; null for nothing. Asked for on the
   * pipeline's thread when the payload is decoded.
   */
  default Checkpoint checkpoint() {
    return null;
  }

  /**
   * Nobody will read the payload's bytes any more: the array is the source's again. Called once,
   * before the outcome; not for an offer that was refused, after which the source has it anyway.
   */
  default void released(byte[] payload) {}

  /**
   * The outcome is known: every span accepted is in the spool on disk, with the {@link
   * #checkpoint}, and will be published. A repeat would count them again and could not help the
   * others.
   *
   * @param rejected spans that were malformed
   * @param reason why they were, or empty; without data of the spans
   */
  void confirmed(int accepted, int rejected, String reason);

  /**
   * The whole payload is malformed; none of it was taken and a repeat cannot help.
   *
   * @param reason why, without data of the payload
   */
  void malformed(String reason);

  /** Nothing of it was kept, as when the disk is full: the sender keeps or repeats it. */
  void failed(String reason);
}
