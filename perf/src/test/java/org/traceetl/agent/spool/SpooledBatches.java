package org.traceetl.agent.spool;

import org.traceetl.agent.route.BrokerQueue;
import org.traceetl.agent.state.AgentIdentity;

/** Batches for tests of transports. */
public final class SpooledBatches {
  private static final AgentIdentity AGENT = new AgentIdentity(1, 2, 3);

  private SpooledBatches() {}

  /** Returns a batch with a body in memory. */
  public static SpooledBatch of(BrokerQueue queue, long sequence, byte[] body) {
    SpooledBatch batch = new SpooledBatch(AGENT, queue, sequence, 0, 1, body.length, 0);
    batch.body(body);
    return batch;
  }
}
