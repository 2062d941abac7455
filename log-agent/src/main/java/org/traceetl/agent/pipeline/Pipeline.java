package org.traceetl.agent.pipeline;

import java.util.Locale;
import java.util.Objects;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.traceetl.agent.config.PipelineConfig;
import org.traceetl.agent.flow.Completion;
import org.traceetl.agent.flow.Intake;
import org.traceetl.agent.flow.MalformedPayloadException;
import org.traceetl.agent.flow.SpanDecoder;
import org.traceetl.agent.publish.Spool;
import org.traceetl.agent.route.Router;
import org.traceetl.agent.route.Topology;
import org.traceetl.agent.state.AgentIdentity;
import org.traceetl.agent.telemetry.AgentMetrics;
import org.traceetl.agent.telemetry.LogThrottle;

/**
 * Takes payloads from any thread, bounded by their bytes, and decodes them into batches on one
 * thread, which owns all that changes. A payload's completion is called when the outcome of every
 * batch that holds a span of it is known.
 */
public final class Pipeline implements Intake, AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(Pipeline.class);

  /** What a payload counts for besides its bytes, so that many small ones are bounded as well. */
  private static final int PAYLOAD_OVERHEAD_BYTES = 1_024;

  private static final long IDLE_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

  private final PipelineConfig config;
  private final Spool spool;
  private final AgentMetrics metrics;
  private final LongSupplier nanoClock;
  private final LogThrottle failureLog;
  private final Batcher batcher;
  private final LinkedBlockingQueue<Payload> payloads = new LinkedBlockingQueue<>();
  private final Thread thread;

  private final Object admission = new Object();
  // Guarded by admission.
  private long bytesInFlight;
  private boolean stopping;

  private volatile Topology topology;
  // Owned by the thread.
  private Topology topologyInUse;

  public Pipeline(
      PipelineConfig config,
      Router router,
      AgentIdentity identity,
      Spool spool,
      AgentMetrics metrics,
      LongSupplier nanoClock) {
    this.config = config;
    this.spool = spool;
    this.metrics = metrics;
    this.nanoClock = nanoClock;
    this.failureLog = new LogThrottle(10, TimeUnit.SECONDS, nanoClock);
    this.batcher = new Batcher(config, router, identity, spool, metrics, nanoClock);
    this.thread = Thread.ofPlatform().name("pipeline").unstarted(this::run);
    metrics.gauge(
        "in_flight_bytes",
        "Bytes of the payloads accepted and not yet settled.",
        this::bytesInFlight);
    metrics.gauge(
        "in_flight_limit_bytes",
        "Most bytes in flight, of payloads or of their batches; above it sources are told to wait.",
        config::maxBytesInFlight);
  }

  /** Starts the thread. */
  public void start() {
    thread.start();
  }

  /** Routes by these queues from now on. Until the first call no payload is accepted. */
  public void topology(Topology now) {
    topology = now;
  }

  @Override
  public Admission offer(
      String source, byte[] payload, SpanDecoder decoder, Completion completion) {
    Admission admitted = admit(source, payload, decoder, completion);
    metrics.payloads.labels(source, admitted.name().toLowerCase(Locale.ROOT)).inc();
    if (admitted == Admission.ACCEPTED) {
      metrics.payloadBytes.labels(source).inc(payload.length);
    }
    return admitted;
  }

  private Admission admit(String source, byte[] bytes, SpanDecoder decoder, Completion completion) {
    int charge = bytes.length + PAYLOAD_OVERHEAD_BYTES;
    synchronized (admission) {
      if (stopping) {
        return Admission.STOPPING;
      }
      if (!canAccept()) {
        return Admission.BROKER_AWAY;
      }
      // Each batch repeats its resource: what is made of payloads can be larger than they were.
      if (Math.max(bytesInFlight, spool.unconfirmedBytes()) + charge > config.maxBytesInFlight()) {
        return Admission.FULL;
      }
      bytesInFlight += charge;
      payloads.add(new Payload(source, bytes, decoder, completion, charge, () -> released(charge)));
      return Admission.ACCEPTED;
    }
  }

  /** True while the queues are known and the broker is there. */
  public boolean canAccept() {
    return topology != null && spool.available();
  }

  private void released(int charge) {
    synchronized (admission) {
      bytesInFlight -= charge;
    }
  }

  /** Bytes of the payloads accepted and not yet settled, with what each counts for besides. */
  public long bytesInFlight() {
    synchronized (admission) {
      return bytesInFlight;
    }
  }

  /** Accepts nothing more; decodes what was accepted, closes the batches and ends the thread. */
  @Override
  public void close() {
    synchronized (admission) {
      stopping = true;
    }
    try {
      thread.join();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void run() {
    boolean more = true;
    while (more) {
      try {
        more = step(batcher.untilDue(nanoClock.getAsLong(), IDLE_NANOS));
      } catch (InterruptedException e) {
        // Nobody else has this thread; close() is the way to end it.
        log.warn("The pipeline's thread was interrupted and goes on");
      } catch (RuntimeException e) {
        if (failureLog.permits()) {
          log.error("The pipeline goes on after an unexpected failure", e);
        }
      }
    }
    batcher.stop();
  }

  /**
   * Takes one payload, waiting for it at most this long, and closes what is due.
   *
   * @return false when it is stopping and nothing is left
   */
  boolean step(long waitNanos) throws InterruptedException {
    Payload payload = payloads.poll(waitNanos, TimeUnit.NANOSECONDS);
    Topology now = topology;
    if (!Objects.equals(now, topologyInUse)) {
      batcher.topology(now);
      topologyInUse = now;
    }
    if (payload != null) {
      decode(payload);
    }
    batcher.closeDue(nanoClock.getAsLong());
    return payload != null || !isDone();
  }

  private boolean isDone() {
    synchronized (admission) {
      return stopping && payloads.isEmpty();
    }
  }

  private void decode(Payload payload) {
    batcher.payload(payload);
    try {
      payload.decoder.decode(payload.takeBytes(), batcher);
    } catch (MalformedPayloadException e) {
      unreadable(payload, e.getMessage());
    } catch (RuntimeException e) {
      // A decoder must not throw; the thread that carries all others has to live on if it does.
      if (failureLog.permits()) {
        log.error("A payload of {} made its decoder fail", payload.source, e);
      }
      unreadable(payload, "the decoder failed");
    }
    metrics.spansReceived.labels(payload.source).inc(payload.accepted() + payload.rejected());
    metrics.spansAccepted.labels(payload.source).inc(payload.accepted());
    payload.release();
  }

  private void unreadable(Payload payload, String reason) {
    metrics.payloadsMalformed.labels(payload.source).inc();
    if (payload.accepted() == 0) {
      payload.malformed(reason);
    } else {
      // Spans of it are in batches already: telling the sender to drop it would be wrong.
      batcher.rejected("unreadable_rest");
    }
  }
}
