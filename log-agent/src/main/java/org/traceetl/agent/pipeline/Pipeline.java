package org.traceetl.agent.pipeline;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.traceetl.agent.config.PipelineConfig;
import org.traceetl.agent.detail.Detail;
import org.traceetl.agent.edge.Edges;
import org.traceetl.agent.filter.Filters;
import org.traceetl.agent.flow.Checkpoint;
import org.traceetl.agent.flow.Completion;
import org.traceetl.agent.flow.Intake;
import org.traceetl.agent.flow.MalformedPayloadException;
import org.traceetl.agent.flow.ResourceCompletion;
import org.traceetl.agent.flow.SpanDecoder;
import org.traceetl.agent.route.Router;
import org.traceetl.agent.route.Topology;
import org.traceetl.agent.spool.Frame;
import org.traceetl.agent.spool.InconsistentBatchException;
import org.traceetl.agent.spool.Spool;
import org.traceetl.agent.state.AgentIdentity;
import org.traceetl.common.Clocks;
import org.traceetl.common.LogThrottle;
import org.traceetl.common.SteppedTask;
import org.traceetl.common.SteppedThread;

/**
 * Accepts payloads from any thread, bounded in bytes, and decodes them into batches on one thread,
 * which owns all mutable state. It commits whole payloads to the spool in groups, then calls their
 * completions.
 */
public final class Pipeline implements Intake, SteppedTask, AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(Pipeline.class);

  /** Charged per payload in addition to its bytes, so that many small payloads are bounded too. */
  private static final int PAYLOAD_OVERHEAD_BYTES = 1_024;

  /** Most bytes of payloads in one commit, unless a single payload has more. */
  private static final int MOST_COMMIT_BYTES = 4 * 1024 * 1024;

  private static final long IDLE_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

  private final PipelineConfig config;
  private final Spool spool;
  private final Frame frame;
  private final PipelineMetrics metrics;
  private final LongSupplier nanoClock;
  private final long lingerNanos;
  private final long commitBytes;
  private final LogThrottle failureLog;
  private final Batcher batcher;
  private final Queue<PendingPayload> payloads = new ConcurrentLinkedQueue<>();
  private final SteppedThread thread;

  private final Object admission = new Object();
  // Guarded by admission.
  private long bytesInFlight;
  private boolean stopping;

  private volatile Router router;
  private volatile Topology topology;
  private volatile Filters filters = Filters.NONE;
  private volatile Detail detail = Detail.FULL;
  private volatile Edges edges = Edges.NONE;
  // Owned by the thread.
  private Router routerInUse;
  private Topology topologyInUse;
  private Filters filtersInUse = Filters.NONE;
  private Detail detailInUse = Detail.FULL;
  private Edges edgesInUse = Edges.NONE;
  private final List<PendingPayload> uncommitted = new ArrayList<>();
  private long uncommittedBytes;
  private long dueNanos;

  /**
   * Creates a pipeline that commits to the spool.
   *
   * @param millis the spool's clock, which dates batches and answers and advances by elapsed time
   *     only
   */
  public Pipeline(
      PipelineConfig config,
      AgentIdentity identity,
      Spool spool,
      PipelineMetrics metrics,
      Clocks clocks,
      LongSupplier millis) {
    this.config = config;
    this.spool = spool;
    this.frame = new Frame(identity, millis, spool.mostWaitMillis());
    this.metrics = metrics;
    nanoClock = clocks.nanoClock();
    this.lingerNanos = TimeUnit.MILLISECONDS.toNanos(config.lingerMillis());
    // Half a frame: batches repeat their resource, and may be larger than their payloads.
    this.commitBytes = Math.min(MOST_COMMIT_BYTES, spool.mostFrameBytes() / 2);
    this.failureLog = new LogThrottle(nanoClock);
    // All batches of a payload are in memory before they are on disk.
    long mostFrameBytes = Math.min(spool.mostFrameBytes(), config.maxBytesInFlight());
    this.batcher = new Batcher(config, frame, mostFrameBytes, metrics, nanoClock, clocks::millis);
    this.thread = new SteppedThread(clocks, "pipeline", this, new LogThrottle(nanoClock));
    metrics.gauge(
        "in_flight_bytes",
        "Bytes of accepted payloads that are not yet in the spool.",
        this::bytesInFlight);
    metrics.gauge(
        "in_flight_limit_bytes",
        "Limit for the bytes in flight; at the limit, sources must wait.",
        config::maxBytesInFlight);
  }

  /** Sets what adds attributes to resources; initially nothing. Call it before {@link #start}. */
  public void completing(ResourceCompletion completion) {
    batcher.completing(completion);
  }

  /** Starts the thread. */
  public void start() {
    thread.start();
  }

  /** Sets the queues, after the routing. Until the first call no payload is accepted. */
  public void topology(Topology now) {
    // Equal queues keep their object, so each step compares no lists.
    if (!now.equals(topology)) {
      topology = now;
    }
  }

  /** Sets the routing for the next payloads. */
  public void router(Router now) {
    router = now;
  }

  /** Sets the filters for the next payloads; initially there are none. */
  public void filters(Filters now) {
    filters = now;
  }

  /**
   * Sets which of the next spans are sent whole, and whether with sizes; initially all, without.
   */
  public void detail(Detail now) {
    detail = now;
  }

  /** Sets which of the next spans leave half-edges; initially none. */
  public void edges(Edges now) {
    edges = now;
  }

  @Override
  public Admission offer(
      String source, byte[] payload, int length, SpanDecoder decoder, Completion completion) {
    Admission admitted = admit(source, payload, length, decoder, completion);
    metrics.payloads.labels(source, admitted.name().toLowerCase(Locale.ROOT)).inc();
    if (admitted == Admission.ACCEPTED) {
      metrics.payloadBytes.labels(source).inc(length);
      thread.wake();
    }
    return admitted;
  }

  @Override
  public void reject(String source, String reason) {
    metrics.spansReceived.labels(source).inc();
    metrics.spansRejected.labels(source, reason).inc();
  }

  private Admission admit(
      String source, byte[] bytes, int length, SpanDecoder decoder, Completion completion) {
    int charge = bytes.length + PAYLOAD_OVERHEAD_BYTES;
    synchronized (admission) {
      if (stopping) {
        return Admission.STOPPING;
      }
      if (topology == null) {
        return Admission.BROKER_AWAY;
      }
      long bytesThen = bytesInFlight + charge;
      if (bytesThen > config.maxBytesInFlight() || !spool.hasRoom(bytesThen, bytesInFlight == 0)) {
        return Admission.FULL;
      }
      bytesInFlight = bytesThen;
      payloads.add(new PendingPayload(source, bytes, length, decoder, completion, charge));
      return Admission.ACCEPTED;
    }
  }

  /** Returns why no payload is accepted now; empty if payloads are accepted. */
  public String problem() {
    return topology == null ? "the agent does not know the topic's queues yet" : spool.problem();
  }

  /** Returns the bytes charged for accepted payloads that are not yet in the spool. */
  public long bytesInFlight() {
    synchronized (admission) {
      return bytesInFlight;
    }
  }

  /** Accepts nothing more; decodes and commits what was accepted, and ends the thread. */
  @Override
  public void close() {
    synchronized (admission) {
      stopping = true;
    }
    thread.close();
  }

  /** Returns the time until the next commit is due or the spool is tended. */
  private long idleNanos() {
    return uncommitted.isEmpty()
        ? IDLE_NANOS
        : Math.clamp(dueNanos - nanoClock.getAsLong(), 0, IDLE_NANOS);
  }

  /** Decodes one payload if there is one, and commits if it is due. */
  @Override
  public long doWork() {
    PendingPayload payload = payloads.poll();
    if (takesRules(payload) && payload != null) {
      decode(payload);
    }
    if (!uncommitted.isEmpty()
        && (uncommittedBytes >= commitBytes || dueNanos - nanoClock.getAsLong() <= 0)) {
      commit();
    }
    spool.tend();
    if (payload != null) {
      return 0;
    }
    batcher.trim();
    return idleNanos();
  }

  /** Decodes and commits all accepted payloads. */
  @Override
  public void onEnd() {
    while (!payloads.isEmpty()) {
      try {
        doWork();
      } catch (RuntimeException e) {
        // The next payloads are still decoded.
        if (failureLog.permits()) {
          log.error("The pipeline continues to drain after an unexpected failure", e);
        }
      }
    }
    commit();
  }

  /**
   * Applies new rules, which closes open batches. If that fails, this payload and all uncommitted
   * ones fail, and the next step retries the rules.
   */
  private boolean takesRules(PendingPayload payload) {
    try {
      takeRules();
      return true;
    } catch (RuntimeException e) {
      if (payload != null) {
        hold(payload);
      }
      settle(unexpected(e));
      return false;
    }
  }

  /** Applies new rules and queues between payloads, so a payload uses one version of each. */
  private void takeRules() {
    Filters filters = this.filters;
    if (filters != filtersInUse) {
      batcher.filter(filters);
      filtersInUse = filters;
    }
    Detail detail = this.detail;
    if (detail != detailInUse) {
      batcher.detail(detail);
      detailInUse = detail;
    }
    Edges edges = this.edges;
    if (edges != edgesInUse) {
      batcher.edges(edges);
      edgesInUse = edges;
    }
    Router router = this.router;
    Topology topology = this.topology;
    if (router != routerInUse || topology != topologyInUse) {
      batcher.route(router, topology);
      routerInUse = router;
      topologyInUse = topology;
    }
  }

  private void decode(PendingPayload payload) {
    if (uncommittedBytes + payload.charge > commitBytes && !uncommitted.isEmpty()) {
      commit();
    }
    if (uncommitted.isEmpty()) {
      dueNanos = nanoClock.getAsLong() + lingerNanos;
    }
    hold(payload);
    try {
      batch(payload);
      Checkpoint note = payload.checkpoint();
      if (note != null) {
        frame.add(note, payload.accepted(), payload.rejected(), payload.reason());
      }
    } catch (RuntimeException e) {
      settle(unexpected(e));
    }
  }

  /** Decodes a payload into batches. If it throws, no payload of the frame may be confirmed. */
  private void batch(PendingPayload payload) {
    batcher.payload(payload);
    try {
      payload.decode(batcher);
    } catch (MalformedPayloadException e) {
      batcher.throwFault();
      unreadable(payload, e.getMessage());
    } catch (RuntimeException e) {
      batcher.throwFault();
      // A decoder must not throw; if it does, the thread continues with other payloads.
      if (failureLog.permits()) {
        log.error("The decoder failed for a payload of source {}", payload.source, e);
      }
      unreadable(payload, "the decoder failed");
    } finally {
      batcher.endPayload();
      metrics
          .spansReceived
          .labels(payload.source)
          .inc(payload.accepted() + payload.filtered() + payload.rejected());
    }
    batcher.throwFault();
  }

  private void hold(PendingPayload payload) {
    if (uncommitted.isEmpty()) {
      spool.beginFrame();
    }
    uncommitted.add(payload);
    uncommittedBytes += payload.charge;
  }

  /** Commits all decoded payloads to the spool, or none, and reports the outcome. */
  private void commit() {
    String failure = null;
    try {
      batcher.closeForCommit();
      if (!frame.isEmpty()) {
        spool.commit(frame);
      }
    } catch (IOException e) {
      failure = "the agent cannot write its spool: " + e.getMessage();
    } catch (RuntimeException e) {
      failure = unexpected(e);
    }
    settle(failure);
  }

  /**
   * Discards the open batches, because they may lack spans of any payload since the last commit.
   * The caller fails these payloads; their senders retry.
   */
  private String unexpected(RuntimeException e) {
    if (e instanceof InconsistentBatchException) {
      metrics.framesRefused.inc();
    }
    if (failureLog.permits()) {
      log.error(
          "Refused the {} payloads since the last commit: batching or committing them failed"
              + " unexpectedly. Their senders retry",
          uncommitted.size(),
          e);
    }
    batcher.discard();
    return "the agent failed to batch it";
  }

  /**
   * Completes all payloads that wait for a commit.
   *
   * @param failure why they are not in the spool, or null if they are
   */
  private void settle(String failure) {
    List<PendingPayload> settled = List.copyOf(uncommitted);
    long released = uncommittedBytes;
    if (failure == null) {
      metrics.halfEdgesAccepted.inc(frame.halfEdges());
    }
    frame.clear();
    spool.endFrame();
    uncommitted.clear();
    uncommittedBytes = 0;
    synchronized (admission) {
      bytesInFlight -= released;
    }
    for (PendingPayload payload : settled) {
      if (failure == null) {
        metrics.spansAccepted.labels(payload.source).inc(payload.accepted());
        if (payload.measured() > 0) {
          metrics.spansMeasured.labels(payload.source).inc(payload.measured());
        }
        if (payload.grouped() > 0) {
          metrics.spansGrouped.labels(payload.source).inc(payload.grouped());
        }
        payload.complete();
      } else {
        metrics.spansFailed.labels(payload.source).inc(payload.accepted());
        payload.fail(failure);
      }
    }
  }

  private void unreadable(PendingPayload payload, String reason) {
    metrics.payloadsMalformed.labels(payload.source).inc();
    if (payload.accepted() == 0) {
      payload.malformed(reason);
    } else {
      // Some of its spans are in batches, so it must not be reported as malformed.
      batcher.rejected("unreadable_rest");
    }
  }
}
