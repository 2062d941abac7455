package org.traceetl.agent.route;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.traceetl.agent.route.BrokerQueue.Topic;

final class BrokerQueueTest {
  /** Else a simulated run of the same seed would take another course in another process. */
  @Test
  void hashIsEqualInAllRuns() {
    assertThat(new BrokerQueue(Topic.SPANS, "a", 2).hashCode()).isEqualTo(31 * 'a' + 2);
    assertThat(new BrokerQueue(Topic.EDGES, "a", 2).hashCode()).isEqualTo(31 * (31 + 'a') + 2);
  }
}
