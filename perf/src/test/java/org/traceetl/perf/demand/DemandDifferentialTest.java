package org.traceetl.perf.demand;

import static org.assertj.core.api.Assertions.assertThat;
import static org.traceetl.server.config.MetricsConfig.OVERFLOW_LABEL;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.SortedMap;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.ShrinkingMode;
import net.jqwik.api.statistics.Statistics;
import org.traceetl.agent.config.DetailConfig;
import org.traceetl.agent.config.DetailConfig.Detail;
import org.traceetl.agent.config.PipelineConfig;
import org.traceetl.agent.config.PublishConfig.Bundles;
import org.traceetl.server.binding.ServerConfig;
import org.traceetl.server.features.demand.PublishedParts;
import org.traceetl.testkit.PageSample;

/**
 * Servers show the same of agents that send all spans whole and of agents that obey a demand, and
 * count what an old demand lacks. Exemplars may differ. Weights are whole and documents below their
 * limits, because otherwise the order of spans matters, which differs as well.
 */
final class DemandDifferentialTest {
  private static final String KEY = "region";
  private static final String NOT_SENT = "__not_sent__";

  private final Random random = new Random();
  private final RandomServers servers = new RandomServers(random);

  @Property(tries = 100, shrinking = ShrinkingMode.OFF)
  void pagesAndDocumentsAreEqual(@ForAll long seed) {
    random.setSeed(seed);
    ServerConfig config = servers.next();
    List<ServerConfig> all =
        random.nextBoolean() ? List.of(config) : List.of(servers.next(), config);

    Pair pair = pair(config, all);

    assertSameLines(pair);
    assertThat(pair.demand.documents()).isEqualTo(pair.full.documents());
    assertThat(pair.demand.counter("trace_etl_dimensions_not_sent_total")).isZero();
    assertDocumentsNotSent(pair, 0);
  }

  @Property(tries = 60, shrinking = ShrinkingMode.OFF)
  void valuesThatAnOldDemandLacksAreMarked(@ForAll long seed) {
    random.setSeed(seed);
    ServerConfig config = servers.with(KEY);
    String label = RandomServers.label(KEY);

    Pair pair = pair(config, List.of(RandomServers.without(KEY, config)));

    List<PageSample> full = pair.full.samples();
    List<PageSample> demand = pair.demand.samples();
    assertThat(PageSums.without(label, demand)).isEqualTo(PageSums.without(label, full));
    Map<String, Long> sent = PageSums.callsExcept(label, NOT_SENT, full);
    PageSums.callsExcept(label, NOT_SENT, demand)
        .forEach((series, calls) ->
            assertThat(calls).as(series).isBetween(0L, sent.getOrDefault(series, -1L)));
    SentGroups lacking = SentGroups.lacking(KEY, pair.batches.values());
    if (config.series().filters().isEmpty()) {
      assertThat(PageSums.callsOf(label, NOT_SENT, demand)).isEqualTo(lacking.weight());
      assertThat(pair.demand.counter("trace_etl_dimensions_not_sent_total"))
          .isEqualTo(lacking.spans());
    }
    Statistics.label("values that were not sent")
        .collect(lacking.spans() > 0)
        .coverage(found -> found.check(true).percentage(percent -> percent > 50));
  }

  @Property(tries = 60, shrinking = ShrinkingMode.OFF)
  void documentsThatAnOldDemandLacksAreCounted(@ForAll long seed) {
    random.setSeed(seed);
    ServerConfig config = servers.next();

    Pair pair = pair(config, List.of(servers.withOtherThresholds(config)));

    assertSameLines(pair);
    List<?> missing = without(pair.full.documents(), pair.demand.documents());
    assertThat(pair.full.documents()).containsAll(pair.demand.documents());
    assertDocumentsNotSent(pair, missing.size());
    Statistics.label("documents that were not sent")
        .collect(!missing.isEmpty())
        .coverage(found -> found.check(true).percentage(percent -> percent > 10));
  }

  @Property(tries = 60, shrinking = ShrinkingMode.OFF)
  void totalsAreEqualWithoutRoomForAllSeries(@ForAll long seed) {
    random.setSeed(seed);
    ServerConfig config = servers.crowded();

    Pair pair = pair(config, List.of(config));

    assertThat(PageSums.totals(pair.demand.samples()))
        .isEqualTo(PageSums.totals(pair.full.samples()));
    assertThat(pair.demand.documents()).isEqualTo(pair.full.documents());
    Statistics.label("overflow series")
        .collect(pair.demand.page().stream().anyMatch(line -> line.contains(OVERFLOW_LABEL)))
        .coverage(found -> found.check(true).percentage(percent -> percent > 50));
  }

  /** What servers show of an agent without demand, and of one with it, whose batches these are. */
  private record Pair(
      ServerRun full,
      ServerRun demand,
      SortedMap<Integer, List<byte[]>> batches,
      boolean measured) {}

  /**
   * Sends the same requests to two agents with the same rules.
   *
   * @param config of the server that reads their batches
   * @param demanding the configurations of the servers whose demand the agent has
   */
  private Pair pair(ServerConfig config, List<ServerConfig> demanding) {
    RandomAgents agents = new RandomAgents(random);
    PipelineConfig pipeline = agents.pipeline();
    String filters = agents.filters();
    List<byte[]> requests = new RandomRequests(random).next();
    AgentRun full =
        new AgentRun(
            pipeline, filters, new DetailConfig(Detail.FULL, List.of()), Bundles.AUTO, List.of());
    full.send(requests);
    Bundles bundles = random.nextBoolean() ? Bundles.AUTO : Bundles.OFF;
    AgentRun demand =
        new AgentRun(
            pipeline,
            filters,
            new DetailConfig(Detail.DEMAND, List.of(), agents.sampleRatio()),
            bundles,
            List.of(PublishedParts.of(demanding).encode()));
    demand.send(requests);
    // Without a demand that permits it there are no bundles.
    assertThat(bundles(full)).isZero();
    Statistics.label("bundles")
        .collect(bundles(demand) > 0)
        .coverage(found -> found.check(true).percentage(percent -> percent > 20));
    double grouped = PageSample.sum(demand.page(), "trace_etl_agent_spans_grouped_total");
    Statistics.label("samples")
        .collect(PageSample.sum(demand.page(), "trace_etl_agent_samples_sent_total") > 0)
        .coverage(found -> found.check(true).percentage(percent -> percent > 20));
    Statistics.label("spans in groups")
        .collect(grouped > 0)
        .coverage(found -> found.check(true).percentage(percent -> percent > 50));
    return new Pair(
        ServerRun.of(config, full.messages()),
        ServerRun.of(config, demand.messages()),
        demand.batches(),
        PageSample.sum(demand.page(), "trace_etl_agent_spans_measured_total") > 0);
  }

  private static double bundles(AgentRun run) {
    return PageSample.sum(run.page(), "trace_etl_agent_bundles_published_total");
  }

  /** A server cannot distinguish slow spans that a filter measures from those of a demand. */
  private static void assertDocumentsNotSent(Pair pair, int documents) {
    double counted = pair.demand.counter("trace_etl_documents_not_sent_total");
    if (pair.measured) {
      assertThat(counted).isGreaterThanOrEqualTo(documents);
    } else {
      assertThat(counted).isEqualTo(documents);
    }
  }

  private static void assertSameLines(Pair pair) {
    List<String> full = pair.full.page();
    List<String> demand = pair.demand.page();
    // Shows the few lines that differ.
    assertThat(without(demand, full)).isEmpty();
    assertThat(without(full, demand)).isEmpty();
    assertThat(demand).isEqualTo(full);
  }

  private static <T> List<T> without(List<T> lines, List<T> others) {
    List<T> left = new ArrayList<>(lines);
    left.removeAll(Set.copyOf(others));
    return left;
  }
}
