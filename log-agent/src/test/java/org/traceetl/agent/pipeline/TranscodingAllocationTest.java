package org.traceetl.agent.pipeline;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.traceetl.agent.config.DetailConfig;
import org.traceetl.agent.config.PipelineConfig;
import org.traceetl.agent.config.RoutingRules;
import org.traceetl.agent.detail.Detail;
import org.traceetl.agent.flow.Completion;
import org.traceetl.agent.flow.Intake.Admission;
import org.traceetl.agent.route.Router;
import org.traceetl.agent.route.TestTopology;
import org.traceetl.agent.source.otlp.OtlpProtobufDecoder;
import org.traceetl.agent.source.otlp.Samples;
import org.traceetl.agent.spool.Outlet;
import org.traceetl.agent.spool.Settlement;
import org.traceetl.agent.spool.Spool;
import org.traceetl.agent.spool.SpoolMetrics;
import org.traceetl.agent.spool.SpooledBatch;
import org.traceetl.agent.spool.TestSpool;
import org.traceetl.agent.state.AgentIdentity;
import org.traceetl.common.Clocks;
import org.traceetl.proto.Demand;
import org.traceetl.proto.Demand.Part;

/**
 * Tests allocation from a request's bytes to frames on disk. A span allocates nothing, a batch its
 * message and its name, a request its outcome.
 */
final class TranscodingAllocationTest {
  private static final int SPANS_PER_REQUEST = 2_000;
  private static final int REQUESTS = 100;
  private static final int MOST_BYTES_PER_BATCH_BESIDES = 2_048;
  private static final int MOST_BYTES_PER_REQUEST = 2_048;

  private final AgentIdentity identity = new AgentIdentity(1, 2, 3);
  private final OtlpProtobufDecoder decoder = new OtlpProtobufDecoder();
  private byte[] request = Samples.realistic(SPANS_PER_REQUEST).toByteArray();
  private final PipelineMetrics metrics = new PipelineMetrics();
  private final Accepted accepted = new Accepted();
  private final Published published = new Published();
  private long nowNanos;
  private Spool spool;
  private Pipeline pipeline;

  @TempDir private Path directory;

  @BeforeEach
  void open() throws IOException {
    spool = TestSpool.open(directory, identity, new SpoolMetrics());
    spool.outlet(published);
    pipeline =
        new Pipeline(
            PipelineConfig.defaults(),
            identity,
            spool,
            metrics,
            new Clocks(() -> nowNanos, InstantSource.system()),
            System::currentTimeMillis);
    pipeline.router(new Router(RoutingRules.defaults()));
    pipeline.topology(TestTopology.topology(8));
  }

  @AfterEach
  void close() throws IOException {
    spool.close();
  }

  @Test
  void requestsReachTheSpoolWithoutAllocationPerSpan() throws Exception {
    spansAllocateNothing();
  }

  @Test
  void spansByDemandReachTheSpoolWithoutAllocationPerSpan() throws Exception {
    request = Samples.successful(SPANS_PER_REQUEST).toByteArray();
    Part part =
        new Part(1, 5, false, 15_000, List.of("http.route"), List.of(), 1_000_000_000, List.of());
    pipeline.detail(
        new Detail(
            new DetailConfig(DetailConfig.Detail.DEMAND, List.of()),
            new Demand(9, 1, Map.of("a", part))));
    spansAllocateNothing();

    assertThat(metrics.spansGrouped.labels("test").get()).isGreaterThan(accepted.spans / 2.0);
  }

  private void spansAllocateNothing() throws InterruptedException {
    run();
    published.batches = 0;
    published.bytes = 0;

    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    long before = threads.getCurrentThreadAllocatedBytes();
    run();
    long allocated = threads.getCurrentThreadAllocatedBytes() - before;

    assertThat(accepted.spans).isEqualTo(2L * REQUESTS * SPANS_PER_REQUEST);
    assertThat(published.batches).isPositive();
    assertThat(allocated - published.bytes)
        .isLessThan(
            published.batches * MOST_BYTES_PER_BATCH_BESIDES + REQUESTS * MOST_BYTES_PER_REQUEST);
  }

  private void run() throws InterruptedException {
    for (int i = 0; i < REQUESTS; i++) {
      assertThat(pipeline.offer("test", request, decoder, accepted)).isEqualTo(Admission.ACCEPTED);
      pipeline.doWork();
    }
    // The open batches are due.
    nowNanos += TimeUnit.SECONDS.toNanos(1);
    pipeline.doWork();
  }

  private static final class Accepted implements Completion {
    private long spans;

    @Override
    public void confirmed(int accepted, int rejected, String reason) {
      spans += accepted;
    }

    @Override
    public void malformed(String reason) {}

    @Override
    public void failed(String reason) {}
  }

  private final class Published implements Outlet {
    private long batches;
    private long bytes;

    @Override
    public void append(List<SpooledBatch> appended) {
      for (SpooledBatch batch : appended) {
        batches++;
        bytes += batch.length();
        batch.body(null);
        spool.settle(batch, Settlement.PUBLISHED);
      }
    }

    @Override
    public void forget(List<SpooledBatch> forgotten) {}
  }
}
