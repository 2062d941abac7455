package org.traceetl.agent.spool;

import java.util.List;

/** Where the spool's batches go out. Called by the pipeline's thread; must not block. */
public interface Outlet {
  /** These are in the spool, in the order of their sequences; their bodies come with them. */
  void append(List<SpooledBatch> batches);

  /** These were settled by the spool itself: they are not to be sent any more. */
  void forget(List<SpooledBatch> batches);
}
