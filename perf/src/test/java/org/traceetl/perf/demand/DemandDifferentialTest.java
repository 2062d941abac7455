package org.traceetl.perf.demand;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.ShrinkingMode;
import net.jqwik.api.statistics.Statistics;
import org.traceetl.agent.config.DetailConfig.Detail;
import org.traceetl.agent.config.PipelineConfig;
import org.traceetl.proto.Demand;
import org.traceetl.server.binding.ServerConfig;
import org.traceetl.testkit.PageSample;

/** Servers show the same of agents that send all spans whole, and of agents that obey a demand. */
final class DemandDifferentialTest {
  @Property(tries = 200, shrinking = ShrinkingMode.OFF)
  void pagesAndDocumentsAreEqual(@ForAll long seed) {
    Random random = new Random(seed);
    ServerConfig config = new RandomServers(random).next();
    RandomAgents agents = new RandomAgents(random);
    PipelineConfig pipeline = agents.pipeline();
    String filters = agents.filters();
    List<byte[]> requests = new RandomRequests(random).next();
    AgentRun full = new AgentRun(pipeline, filters, Detail.FULL, List.of());
    full.send(requests);
    AgentRun demand =
        new AgentRun(pipeline, filters, Detail.DEMAND, List.of(demand(config).encode()));
    demand.send(requests);
    double grouped = PageSample.sum(demand.page(), "trace_etl_agent_spans_grouped_total");
    Statistics.label("groups")
        .collect(grouped > 0)
        .coverage(found -> found.check(true).percentage(percent -> percent > 50));

    ServerRun ofFull = ServerRun.of(config, full.batches());
    ServerRun ofDemand = ServerRun.of(config, demand.batches());

    ofFull.assertBooksBalance();
    ofDemand.assertBooksBalance();
    assertThat(without(ofDemand.page(), ofFull.page())).isEmpty();
    assertThat(without(ofFull.page(), ofDemand.page())).isEmpty();
    assertThat(ofDemand.page()).hasSameSizeAs(ofFull.page());
    assertThat(ofDemand.documents()).isEqualTo(ofFull.documents());
  }

  private static Demand demand(ServerConfig config) {
    return new Demand(
        1000,
        1000,
        Map.of(
            "a",
            new Demand.Part(
                1000,
                1000,
                false,
                15_000,
                config.series().dimensions().stream()
                    .filter(d -> d.from().readsSpan())
                    .map(d -> d.attribute())
                    .toList(),
                config.documents().thresholds().stream()
                    .map(t ->
                        new Demand.SlowRule(
                            t.application(),
                            t.kinds().stream().mapToInt(k -> 1 << k.ordinal()).sum(),
                            t.slowerThan().toNanos()))
                    .toList(),
                config.documents().slowerThan().toNanos(),
                List.of())));
  }

  private static List<String> without(List<String> lines, List<String> others) {
    List<String> left = new ArrayList<>(lines);
    left.removeAll(Set.copyOf(others));
    return left;
  }
}
