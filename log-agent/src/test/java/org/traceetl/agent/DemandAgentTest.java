package org.traceetl.agent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.google.protobuf.AbstractMessageLite;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.traceetl.agent.config.ConfigReader;
import org.traceetl.agent.disk.Disk;
import org.traceetl.agent.flow.Completion;
import org.traceetl.agent.flow.Intake.Admission;
import org.traceetl.agent.publish.DecisionsWatch.Newest;
import org.traceetl.agent.publish.DecisionsWatch.Place;
import org.traceetl.agent.publish.MemoryTransport;
import org.traceetl.agent.route.BrokerQueue;
import org.traceetl.agent.route.TestTopology;
import org.traceetl.agent.source.otlp.Samples;
import org.traceetl.common.Clocks;
import org.traceetl.proto.Demand;
import org.traceetl.proto.Demand.Part;
import org.traceetl.proto.EdgeBatchReader;
import org.traceetl.proto.Rejection;
import org.traceetl.proto.SpanBatchReader;

/** A whole agent that gets the servers' demand from the topic, or from its disk. */
final class DemandAgentTest {
  private static final long VERSION = 5;
  private static final int SPANS = 10;

  private final Topic topic = new Topic();

  @TempDir private Path directory;

  @Test
  void demandIsFollowedAndKeptOverARestartWithoutTheTopic() throws Exception {
    topic.records = List.of(demand());
    try (RunningAgent agent = start("demand")) {
      awaitVersion(agent, VERSION);
      assertThat(groupedOf(agent, 1)).isEqualTo(SPANS);
    }
    topic.records = null;
    try (RunningAgent agent = start("demand")) {
      awaitVersion(agent, VERSION);
      assertThat(groupedOf(agent, 2)).isEqualTo(SPANS + 1);
    }
  }

  @Test
  void agentInFullDetailWithoutBundlesIgnoresTheDemand() throws Exception {
    topic.records = List.of(demand());
    try (RunningAgent agent = start("full")) {
      await().until(() -> topic.wasRead);
      assertThat(groupedOf(agent, 1)).isZero();
      assertThat(agent.metricsPage())
          .contains("\ntrace_etl_agent_demand_version 0.0\n")
          .contains("_records_refused_total{reason=\"magic\",} 0.0\n");
      assertThat(directory.resolve("demand")).doesNotExist();
    }
  }

  @Test
  void agentInFullDetailSendsSizesIfItReadsADemandForThem() throws Exception {
    topic.records = List.of(demand(Demand.SIZES));
    try (RunningAgent agent = start("full", "auto")) {
      awaitVersion(agent, VERSION);
      assertThat(groupedOf(agent, 1)).isZero();
      assertThat(topic.sizes()).hasSize(SPANS + 1).allMatch(size -> size > 100);
    }
    try (RunningAgent agent = start("full", "off")) {
      await().until(() -> topic.wasRead);
      assertThat(groupedOf(agent, 2)).isZero();
      assertThat(topic.sizes()).isEmpty();
    }
  }

  @Test
  void sizesOfGroupsAreSentByDemand() throws Exception {
    topic.records = List.of(demand(Demand.SIZES));
    try (RunningAgent agent = start("demand")) {
      awaitVersion(agent, VERSION);
      assertThat(groupedOf(agent, 1)).isEqualTo(SPANS);
      long sum =
          Samples.successful(SPANS + 1).getResourceSpans(0).getScopeSpans(0).getSpansList().stream()
              .mapToLong(AbstractMessageLite::getSerializedSize)
              .sum();
      assertThat(topic.sizes().stream().mapToLong(size -> size).sum()).isEqualTo(sum);
    }
  }

  @Test
  void halfEdgesHaveTheDemandedDimensions() throws Exception {
    Part part =
        new Part(
            System.currentTimeMillis(),
            VERSION,
            false,
            15_000,
            List.of(),
            List.of(),
            0,
            List.of(),
            Demand.EDGES,
            List.of("service.name"),
            List.of());
    topic.records =
        List.of(new Demand(9, 1, Map.of("a", part)).encode(), TestTopology.edgeQueues(1).encode());
    try (RunningAgent agent = start("full", "off", "auto")) {
      awaitVersion(agent, VERSION);
      Answered answered = new Answered();
      await().until(() -> agent.problem().isEmpty());
      assertThat(agent.otlpRequests().offer(Samples.successful(SPANS).toByteArray(), answered))
          .isEqualTo(Admission.ACCEPTED);
      await().until(() -> answered.confirmed == SPANS);
      await().until(() -> topic.stored().stream().anyMatch(Topic::isOfEdges));
      byte[] body = topic.stored().stream().filter(Topic::isOfEdges).findFirst().get().body();
      EdgeBatchReader reader = new EdgeBatchReader();
      assertThat(reader.wrap(body, 0, body.length)).isEqualTo(Rejection.NONE);
      while (reader.nextHead()) {
        assertThat(reader.dimensionCount()).isOne();
        assertThat(reader.dimensions()[1]).isEqualTo(reader.application());
      }
      assertThat(reader.halfCount()).isPositive();
    }
  }

  private RunningAgent start(String detail) throws IOException {
    return start(detail, detail.equals("full") ? "off" : "auto");
  }

  private RunningAgent start(String detail, String bundles) throws IOException {
    return start(detail, bundles, "off");
  }

  private RunningAgent start(String detail, String bundles, String edges) throws IOException {
    String yaml =
        """
        state-directory: %s
        otlp: {host: 127.0.0.1, grpc-port: 0, http-port: 0}
        telemetry: {enabled: false}
        ring: {enabled: false}
        routing: {hotspots: %s, learnt-names: false}
        rocketmq: {bundles: %s}
        detail: {default: %s}
        edges: {default: %s}
        """
            .formatted(directory, detail.equals("full"), bundles, detail, edges);
    return RunningAgent.start(
        ConfigReader.read(yaml, Map.of()).config(),
        new Platform(
            Clocks.SYSTEM, new Random(7), Disk.SYSTEM, (config, identity) -> topic, "host"));
  }

  private static void awaitVersion(RunningAgent agent, long version) {
    await()
        .until(() ->
            agent.metricsPage().contains("\ntrace_etl_agent_demand_version " + version + ".0\n"));
  }

  private static byte[] demand() {
    return demand(0);
  }

  private static byte[] demand(int formats) {
    Part part =
        new Part(
            System.currentTimeMillis(),
            VERSION,
            false,
            15_000,
            List.of("http.route"),
            List.of(),
            1_000_000_000,
            List.of(),
            formats);
    return new Demand(9, 1, Map.of("a", part)).encode();
  }

  /** Sends a request and returns how many of its spans are in groups. */
  private int groupedOf(RunningAgent agent, int requests) {
    Answered answered = new Answered();
    // A repeat of a request would only be answered.
    byte[] request = Samples.successful(SPANS + requests).toByteArray();
    await().until(() -> agent.problem().isEmpty());
    assertThat(agent.otlpRequests().offer(request, answered)).isEqualTo(Admission.ACCEPTED);
    await().until(() -> answered.confirmed == SPANS + requests);
    await().until(() -> topic.stored().size() == requests);
    byte[] body = topic.stored().getLast().body();
    SpanBatchReader reader = new SpanBatchReader();
    assertThat(reader.wrap(body, 0, body.length)).isEqualTo(Rejection.NONE);
    int grouped = 0;
    while (reader.next()) {
      continue;
    }
    while (reader.nextGroup()) {
      grouped += reader.groupSize();
    }
    assertThat(reader.demand()).isEqualTo(grouped == 0 ? 0 : VERSION);
    return grouped;
  }

  private static final class Topic extends MemoryTransport {
    // Null if the broker does not answer.
    volatile List<byte[]> records;
    volatile boolean wasRead;

    /** Returns the sizes of the last batch's spans, then of its groups; empty if it has none. */
    List<Long> sizes() {
      byte[] body = stored().getLast().body();
      SpanBatchReader reader = new SpanBatchReader();
      assertThat(reader.wrap(body, 0, body.length)).isEqualTo(Rejection.NONE);
      int entries = 0;
      while (reader.next()) {
        entries++;
      }
      while (reader.nextGroup()) {
        entries++;
      }
      List<Long> sizes = new ArrayList<>();
      for (int i = 0; reader.hasSizes() && i < entries; i++) {
        sizes.add(reader.size(i));
      }
      return sizes;
    }

    static boolean isOfEdges(Stored batch) {
      return batch.queue().topic() == BrokerQueue.Topic.EDGES;
    }

    @Override
    public List<BrokerQueue> queues() {
      return List.of(new BrokerQueue("broker-a", 0));
    }

    @Override
    public Newest newest(String topic, Place known) {
      List<byte[]> read = records;
      if (read == null) {
        throw new IllegalStateException("the broker is away, as the test wants it");
      }
      wasRead = true;
      return new Newest(new Place("broker-a", read.size()), read);
    }
  }

  private static final class Answered implements Completion {
    volatile int confirmed;

    @Override
    public void confirmed(int accepted, int rejected, String reason) {
      confirmed = accepted;
    }

    @Override
    public void malformed(String reason) {
      throw new AssertionError(reason);
    }

    @Override
    public void failed(String reason) {
      throw new AssertionError(reason);
    }
  }
}
