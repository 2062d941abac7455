package org.traceetl.perf.demand;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.traceetl.agent.config.DetailConfig;
import org.traceetl.agent.config.DetailConfig.Detail;
import org.traceetl.agent.config.PublishConfig.Bundles;
import org.traceetl.proto.Demand;
import org.traceetl.proto.Demand.Part;
import org.traceetl.testkit.PageSample;

/** A whole agent, and servers that change what they read. */
class BundlesByDemandTest {
  private static final int POLL_SECONDS = 60;
  private static final int VALID_SECONDS = 15 * 60;

  private final Random random = new Random(7);
  private final List<byte[]> records = new ArrayList<>();

  private final AgentRun agent =
      new AgentRun(
          new RandomAgents(random).pipeline(),
          "",
          new DetailConfig(Detail.FULL, List.of()),
          Bundles.AUTO,
          records);

  @Test
  void bundlesAreSentWhileANewDemandPermitsThem() {
    assertThat(bundles()).isZero();
    publish(Demand.BUNDLES);
    assertThat(bundles()).isPositive();
    publish(0);
    assertThat(bundles()).isZero();
    publish(Demand.BUNDLES);
    assertThat(bundles()).isPositive();
    agent.pass(VALID_SECONDS);
    assertThat(bundles()).isZero();
  }

  private void publish(int formats) {
    long epoch = records.size() + 1;
    Part part = new Part(0, epoch, true, 15_000, List.of(), List.of(), 0, List.of(), formats);
    records.add(new Demand(epoch, agent.unixMillis(), Map.of("a", part)).encode());
  }

  /** Lets the agent read the records and send requests; returns the number of its new bundles. */
  private double bundles() {
    agent.pass(POLL_SECONDS);
    double before = published();
    for (int i = 0; i < 5; i++) {
      agent.send(new RandomRequests(random).next());
    }
    return published() - before;
  }

  private double published() {
    return PageSample.sum(agent.page(), "trace_etl_agent_bundles_published_total");
  }
}
