package org.traceetl.agent.flow;

/** Receives the outcome of an accepted payload, once, on the pipeline thread. Must not block. */
public interface Completion {
  /**
   * Returns the checkpoint to commit with the payload's spans; null for none. Called on the
   * pipeline thread after the payload is decoded.
   */
  default Checkpoint checkpoint() {
    return null;
  }

  /**
   * Returns the payload's array to the source. Called once, before the outcome; if the payload is
   * forwarded, later and on another thread. Not called for a refused offer, whose array the source
   * keeps.
   */
  default void released(byte[] payload) {}

  /**
   * Every accepted span is on disk in the spool, with the {@link #checkpoint}, and will be
   * published. The sender must not repeat the payload.
   *
   * @param rejected number of rejected spans
   * @param reason why they were rejected, or empty; without data of the spans
   */
  void confirmed(int accepted, int rejected, String reason);

  /**
   * The whole payload is malformed: none of it was accepted, and a repeat fails again.
   *
   * @param reason why, without data of the payload
   */
  void malformed(String reason);

  /**
   * Nothing of the payload was stored, for example because the disk is full; the sender may repeat
   * it.
   */
  void failed(String reason);
}
