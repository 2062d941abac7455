package org.traceetl.agent.forward;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.random.RandomGenerator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.traceetl.agent.config.ForwardConfig;
import org.traceetl.agent.config.ForwardConfig.Endpoint;
import org.traceetl.agent.disk.Disk;
import org.traceetl.agent.flow.Intake;
import org.traceetl.agent.flow.OtlpFormat;
import org.traceetl.agent.flow.SpanDecoder;
import org.traceetl.agent.forward.ForwardMetrics.Drop;
import org.traceetl.agent.forward.ForwardMetrics.SpanOutcome;
import org.traceetl.agent.telemetry.MetricSet;
import org.traceetl.common.Clocks;
import org.traceetl.common.LogThrottle;
import org.traceetl.common.SteppedTask;
import org.traceetl.common.SteppedThread;

/**
 * Forwards accepted OTLP trace requests, and spans of other sources as such: a queue in memory, a
 * thread that writes it to the buffer on disk, and a sender for each endpoint. If a part of it is
 * slow or fails, requests are dropped and counted; sources and pipeline never wait.
 */
public final class Forwarding implements SteppedTask, AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(Forwarding.class);
  private static final long TIDY_NANOS = TimeUnit.SECONDS.toNanos(1);

  /** Most requests that are taken before tail keeping works, which may have to catch up. */
  private static final int MOST_OF_STEP = 64;

  /** How long a disk that failed is left alone. */
  private static final long DISK_PAUSE_NANOS = TimeUnit.SECONDS.toNanos(1);

  private final Clocks clocks;
  private final RequestQueue queue = new RequestQueue(ForwardConfig.QUEUE_BYTES);
  private final ForwardBuffer buffer;
  private final ForwardMetrics metrics;
  private final LogThrottle failureLog;
  private final Map<String, EndpointSender> senders = new LinkedHashMap<>();
  private final SteppedThread thread;

  // Owned by the thread.
  private final EncodedSpans encoded;
  // Null if all traces are forwarded.
  private final TailKeeping keeping;
  private long tidyNanos;
  private long diskPausedUntilNanos;

  /**
   * Opens the buffer, and starts to send what it has.
   *
   * @param directory of the buffer
   * @param decoders read requests by format; used by a thread of this
   * @throws IOException if the buffer or a file of an endpoint cannot be used
   */
  public static Forwarding start(
      ForwardConfig config,
      Path directory,
      Disk disk,
      Clocks clocks,
      RandomGenerator random,
      Map<OtlpFormat, SpanDecoder> decoders)
      throws IOException {
    List<TraceClient> clients = new ArrayList<>();
    try {
      for (Endpoint endpoint : config.endpoints()) {
        clients.add(new HttpTraceClient(endpoint, clocks.wall()));
      }
      return new Forwarding(config, directory, disk, clocks, random, decoders, clients);
    } catch (IOException | RuntimeException e) {
      clients.forEach(TraceClient::close);
      throw e;
    }
  }

  /**
   * @param clients by endpoint
   */
  Forwarding(
      ForwardConfig config,
      Path directory,
      Disk disk,
      Clocks clocks,
      RandomGenerator random,
      Map<OtlpFormat, SpanDecoder> decoders,
      List<TraceClient> clients)
      throws IOException {
    this.clocks = clocks;
    failureLog = new LogThrottle(clocks.nanoClock());
    List<String> names = config.endpoints().stream().map(Endpoint::name).toList();
    metrics = new ForwardMetrics(names);
    buffer =
        ForwardBuffer.open(
            directory,
            config.bufferBytes(),
            names,
            disk,
            metrics,
            new LogThrottle(clocks.nanoClock()));
    keeping =
        config.keep().enabled()
            ? new TailKeeping(
                config.keep(),
                directory.resolve("waiting"),
                disk,
                (body, length, millis, format) ->
                    append(buffer::append, body, length, millis, format),
                decoders,
                metrics,
                clocks,
                random.nextLong())
            : null;
    encoded = new EncodedSpans(this::store, metrics);
    for (int i = 0; i < clients.size(); i++) {
      Endpoint endpoint = config.endpoints().get(i);
      senders.put(
          endpoint.name(),
          new EndpointSender(
              endpoint, buffer.cursor(endpoint.name()), clients.get(i), metrics, clocks, random));
      log.info("Forwarding OTLP traces to endpoint {} at {}", endpoint.name(), endpoint.shownUrl());
      if (endpoint.hasClearTextSecrets()) {
        log.warn(
            "Headers of endpoint {} are sent in clear text, because its url is not https",
            endpoint.name());
      }
    }
    metrics.observe(
        name -> senders.get(name).backlogBytes(), name -> senders.get(name).oldestSeconds());
    tidyNanos = clocks.nanos();
    diskPausedUntilNanos = clocks.nanos();
    thread = new SteppedThread(clocks, "forward-buffer", this, failureLog);
    thread.start();
    senders.values().forEach(EndpointSender::start);
  }

  /** Returns an entry that forwards the payloads which another entry confirms. */
  public Intake over(Intake intake) {
    return new ForwardingIntake(intake, this::take, clocks::millis);
  }

  public MetricSet metrics() {
    return metrics;
  }

  /** Called by the pipeline's thread. */
  private boolean take(QueuedRequest request) {
    if (!queue.offer(request)) {
      metrics.droppedForAll(Drop.QUEUE_FULL, 1);
      if (request.encoder() != null) {
        metrics.encoded(
            request.source(),
            SpanOutcome.QUEUE_FULL,
            request.encoder().spans(request.payload(), request.length()));
      }
      return false;
    }
    thread.wake();
    return true;
  }

  /** Writes payloads to a buffer, and decides on a few that have waited. */
  @Override
  public long doWork() {
    long now = clocks.nanos();
    int taken = 0;
    while (taken < MOST_OF_STEP && storeNext(now)) {
      taken++;
    }
    long untilDue = encoded.endDue(now);
    boolean hasKept = keep();
    if (now - tidyNanos >= 0) {
      tidyNanos = now + TIDY_NANOS;
      buffer.tidy();
      if (keeping != null) {
        keeping.tidy();
        wakeSenders();
      }
    }
    // Waits of tail keeping end when it is tidied.
    return taken == 0 && !hasKept ? Math.max(0, Math.min(untilDue, tidyNanos - now)) : 0;
  }

  /** Stores the next request; returns whether one waited. */
  private boolean storeNext(long now) {
    QueuedRequest request = queue.poll();
    if (request != null) {
      store(request, now);
    }
    return request != null;
  }

  /** Returns whether tail keeping did something. */
  private boolean keep() {
    if (keeping == null) {
      return false;
    }
    boolean worked = false;
    try {
      worked = keeping.step(!isDiskPaused());
    } catch (IOException e) {
      if (failureLog.permits()) {
        log.warn(
            "Cannot read the traces that wait to be kept: {}. The agent retries", e.toString());
      }
    }
    if (worked) {
      // A request that is left out may be the last one, and senders drain.
      wakeSenders();
    }
    return worked;
  }

  private void store(QueuedRequest request, long now) {
    try {
      if (request.encoder() == null) {
        boolean _ = store(request.payload(), request.length(), request.millis(), request.format());
      } else {
        encoded.add(request, now);
      }
    } finally {
      request.giveBack();
      queue.settle(request);
    }
  }

  /** Stores an accepted request; if it is not in a buffer then, counts it as dropped. */
  private boolean store(byte[] body, int length, long millis, OtlpFormat format) {
    boolean stored = false;
    try {
      Append to = keeping == null ? buffer::append : keeping::append;
      stored = append(to, body, length, millis, format);
    } finally {
      if (!stored) {
        metrics.droppedForAll(Drop.DISK_FAILED, 1);
      }
    }
    return stored;
  }

  private interface Append {
    void append(byte[] body, int length, long millis, OtlpFormat format) throws IOException;
  }

  /** Returns whether the request is in the buffer; if not, the disk is left alone for a while. */
  private boolean append(Append to, byte[] body, int length, long millis, OtlpFormat format) {
    boolean stored = false;
    try {
      if (!isDiskPaused()) {
        to.append(body, length, millis, format);
        stored = true;
      }
    } catch (IOException e) {
      diskPausedUntilNanos = clocks.nanos() + DISK_PAUSE_NANOS;
      if (failureLog.permits()) {
        log.warn(
            "Cannot write the buffer of traces to forward: {}. Trace requests are not forwarded"
                + " until it can be written; counting continues",
            e.toString());
      }
    }
    wakeSenders();
    return stored;
  }

  private boolean isDiskPaused() {
    return clocks.nanos() - diskPausedUntilNanos < 0;
  }

  private void wakeSenders() {
    senders.values().forEach(EndpointSender::wake);
  }

  /** Writes what is in memory. */
  @Override
  public void onEnd() throws IOException {
    for (QueuedRequest request = queue.poll(); request != null; request = queue.poll()) {
      store(request, clocks.nanos());
    }
    encoded.end();
    buffer.close();
    if (keeping != null) {
      keeping.close();
    }
  }

  private boolean isSettled() {
    return queue.isSettled() && !encoded.isOpen() && (keeping == null || keeping.isEmpty());
  }

  /**
   * Waits until the endpoints have accepted all requests. No request may be added meanwhile.
   *
   * @return false if some remain in the buffer, for the next start
   */
  public boolean drain(Duration timeout) throws InterruptedException {
    long endNanos = clocks.nanos() + timeout.toNanos();
    if (keeping != null) {
      keeping.drain();
      thread.wake();
    }
    List<CountDownLatch> idle = new ArrayList<>();
    senders.values().forEach(sender -> idle.add(sender.drain(this::isSettled)));
    boolean all = true;
    for (CountDownLatch each : idle) {
      Duration left = Duration.ofNanos(Math.max(0, endNanos - clocks.nanos()));
      all &= clocks.threads().await(each, left);
    }
    return all
        || isSettled() && senders.values().stream().allMatch(sender -> sender.backlogBytes() == 0);
  }

  /** Ends the senders, writes what is in memory, and stores the positions. Idempotent. */
  @Override
  public void close() {
    senders.values().forEach(EndpointSender::close);
    thread.close();
  }
}
