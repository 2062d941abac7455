package org.traceetl.agent.publish;

/**
 * Where the pipeline leaves named batches. The {@link Publisher} stands here itself and keeps them
 * in memory; a spool on disk takes this place, confirms what it has written and hands on to it.
 */
public interface Spool {
  /**
   * Takes a batch; its outcome will be called exactly once. Never blocks: what is under way is
   * bounded where payloads are accepted. Called by the pipeline thread only.
   */
  void append(Batch batch);

  /** Bytes of the batches taken whose outcome is not known. Safe for any thread. */
  long unconfirmedBytes();

  /** False while it can be told that batches would only wait: sources are refused then. */
  boolean available();
}
