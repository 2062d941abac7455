package org.traceetl.perf.bench.load;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.traceetl.agent.config.DetailConfig;
import org.traceetl.agent.config.EdgesConfig;
import org.traceetl.agent.config.FilterRules;
import org.traceetl.agent.config.PipelineConfig;
import org.traceetl.agent.config.RoutingRules;
import org.traceetl.agent.config.SpoolConfig;
import org.traceetl.agent.detail.Detail;
import org.traceetl.agent.edge.Edges;
import org.traceetl.agent.filter.Filters;
import org.traceetl.agent.flow.Completion;
import org.traceetl.agent.flow.Intake;
import org.traceetl.agent.flow.SpanDecoder;
import org.traceetl.agent.pipeline.Pipeline;
import org.traceetl.agent.pipeline.PipelineMetrics;
import org.traceetl.agent.route.BrokerQueue;
import org.traceetl.agent.route.EdgeRoute;
import org.traceetl.agent.route.Router;
import org.traceetl.agent.route.Topology;
import org.traceetl.agent.source.otlp.OtlpProtobufDecoder;
import org.traceetl.agent.spool.Outlet;
import org.traceetl.agent.spool.Settlement;
import org.traceetl.agent.spool.Spool;
import org.traceetl.agent.spool.SpoolMetrics;
import org.traceetl.agent.spool.SpooledBatch;
import org.traceetl.agent.state.AgentIdentity;
import org.traceetl.common.Clocks;
import org.traceetl.proto.EdgeQueues;
import org.traceetl.proto.EdgeQueues.Queues;

/**
 * Performs the work of an agent's pipeline thread, without network and broker: decodes OTLP
 * requests, filters and batches their spans, and writes the batches to a spool in memory. It
 * settles batches at once. Its time advances by a microsecond a span, so equal requests give equal
 * batches whatever the speed of the machine. Confined to one thread.
 */
public final class AgentLoad implements AutoCloseable {
  private static final int QUEUES = 8;
  private static final long NANOS_PER_SPAN = 1_000;
  private static final long START_MILLIS = 1_790_000_000_000L;

  private final SpanDecoder decoder = new OtlpProtobufDecoder();
  private final List<RenumberedExport> requests;
  private final Outcome outcome = new Outcome();
  private final Spool spool;
  private final Pipeline pipeline;
  // The threads of the spool read it too.
  private volatile long nowNanos;
  private int next;
  private int owed;
  private long number;
  private long offered;
  private long batchBytes;
  private long halfEdges;
  private long edgeBytes;
  private boolean keeps;
  private List<Made> kept = List.of();

  /**
   * A batch that the pipeline made.
   *
   * @param spans that it counts
   */
  public record Made(byte[] body, int spans) {}

  /**
   * Creates a load without filters.
   *
   * @param requests that are repeated in turn
   */
  public AgentLoad(List<RenumberedExport> requests) throws IOException {
    this.requests = List.copyOf(requests);
    AgentIdentity identity = new AgentIdentity(1, 2, 3);
    Clocks clocks = new Clocks(() -> nowNanos, () -> Instant.ofEpochMilli(nowMillis()));
    spool =
        Spool.open(
            SpoolConfig.defaults(Path.of("memory")),
            identity,
            new SpoolMetrics(),
            clocks,
            new MemoryDisk());
    spool.outlet(new Settling());
    pipeline =
        new Pipeline(
            PipelineConfig.defaults(),
            identity,
            spool,
            new PipelineMetrics(),
            clocks,
            spool::nowMillis);
    pipeline.router(new Router(RoutingRules.defaults()));
    pipeline.topology(
        new Topology(
            IntStream.range(0, QUEUES).mapToObj(id -> new BrokerQueue("broker", id)).toList()));
  }

  /** Sets the filters of the next requests. */
  public void filters(FilterRules rules) {
    pipeline.filters(new Filters(rules));
  }

  /** Sets what servers demand of the next requests; ordinary spans are sent in groups. */
  public void demand() {
    pipeline.detail(
        new Detail(
            new DetailConfig(DetailConfig.Detail.DEMAND, List.of()), FixedDemand.at(START_MILLIS)));
  }

  /** Sends the half-edges of the next requests. */
  public void edges() {
    Queues numbers = new Queues(IntStream.range(0, QUEUES).toArray());
    EdgeQueues list = new EdgeQueues(1, START_MILLIS, Map.of("broker", numbers));
    pipeline.edges(new Edges(EdgesConfig.defaults(), new EdgeRoute(list)));
  }

  private long nowMillis() {
    return START_MILLIS + TimeUnit.NANOSECONDS.toMillis(nowNanos);
  }

  /** Takes whole requests of this many spans; surplus spans are subtracted from the next call. */
  public void take(int spans) {
    owed += spans;
    while (owed > 0) {
      RenumberedExport request = requests.get(next);
      next = (next + 1) % requests.size();
      Intake.Admission admission =
          pipeline.offer("otlp_grpc", request.numbered(++number), decoder, outcome);
      if (admission != Intake.Admission.ACCEPTED) {
        throw new IllegalStateException("the pipeline answered " + admission);
      }
      pipeline.doWork();
      owed -= request.spans();
      offered += request.spans();
      nowNanos += request.spans() * NANOS_PER_SPAN;
    }
  }

  /**
   * Takes whole requests as {@link #take} does, and returns the batches that were written
   * meanwhile.
   */
  public List<Made> batches(int spans) {
    kept = new ArrayList<>();
    keeps = true;
    take(spans);
    keeps = false;
    return kept;
  }

  /** Returns the bytes of all batches so far, divided by the spans that they count. */
  public double batchBytesPerSpan() {
    return (double) batchBytes / outcome.accepted;
  }

  /** Returns the half-edges so far, divided by the spans. */
  public double halfEdgesPerSpan() {
    return (double) halfEdges / outcome.accepted;
  }

  /** Returns the bytes of a half-edge in the batches so far; not a number without half-edges. */
  public double bytesPerHalfEdge() {
    return (double) edgeBytes / halfEdges;
  }

  /**
   * Commits open batches and ends.
   *
   * @throws IllegalStateException if a span was not accepted
   */
  @Override
  public void close() throws IOException {
    pipeline.close();
    pipeline.onEnd();
    spool.close();
    if (outcome.accepted != offered) {
      throw new IllegalStateException(
          "of " + offered + " spans " + outcome.accepted + " were accepted");
    }
  }

  private static final class Outcome implements Completion {
    private long accepted;

    @Override
    public void confirmed(int spans, int rejected, String reason) {
      accepted += spans;
    }

    @Override
    public void malformed(String reason) {
      throw new IllegalStateException("a request is malformed: " + reason);
    }

    @Override
    public void failed(String reason) {
      throw new IllegalStateException("a request failed: " + reason);
    }
  }

  /** Settles batches as if the broker had confirmed them. */
  private final class Settling implements Outlet {
    @Override
    public void append(List<SpooledBatch> batches) {
      for (SpooledBatch batch : batches) {
        batchBytes += batch.length();
        if (batch.halfEdges() > 0) {
          halfEdges += batch.halfEdges();
          edgeBytes += batch.length();
        } else if (keeps) {
          kept.add(new Made(batch.body().clone(), batch.spans()));
        }
        batch.body(null);
        spool.settle(batch, Settlement.PUBLISHED);
      }
    }

    @Override
    public void forget(List<SpooledBatch> batches) {
      throw new IllegalStateException(batches.size() + " batches were dropped");
    }
  }
}
