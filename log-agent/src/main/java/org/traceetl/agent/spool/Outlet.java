package org.traceetl.agent.spool;

import java.util.List;

/** Receives the spool's batches. Called on the pipeline thread; must not block. */
public interface Outlet {
  /** Accepts batches that are in the spool, in the order of their sequences, with their bodies. */
  void append(List<SpooledBatch> batches);

  /** Discards batches that the spool has dropped; they must not be sent. */
  void forget(List<SpooledBatch> batches);
}
