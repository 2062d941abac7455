package org.traceetl.perf.systest.chaos;

import io.grpc.CallOptions;
import io.grpc.Grpc;
import io.grpc.InsecureChannelCredentials;
import io.grpc.ManagedChannel;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.ClientCalls;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import org.traceetl.perf.bench.load.GrpcSender;

/**
 * Sends spans until they are accepted: a sender repeats a request with the same bytes, to the same
 * agent, until it gets a good answer. Each sender has one request under way. If agents have a gRPC
 * port, one sender in three uses it. One more thread appends to a trace log. New requests wait
 * while a pane ends, see {@link PaneSchedule}.
 */
final class SpanLoad {
  private static final int SENDERS_PER_AGENT = 3;
  private static final int SPANS_PER_REQUEST = 25;
  private static final int LINES_PER_SECOND = 10;
  private static final Duration REQUEST_TIMEOUT = Duration.ofSeconds(8);
  private static final long RETRY_NANOS = Duration.ofMillis(300).toNanos();
  static final List<String> SERVICES =
      List.of("cart", "catalogue", "checkout", "frontend", "mail", "payment", "search", "stock");

  /**
   * The destinations of spans.
   *
   * @param httpPorts the agents' ports for OTLP/HTTP
   * @param grpcPorts the agents' ports for OTLP over gRPC; may be empty
   * @param traceLog a file that one of the agents follows
   * @param rotates whether the file is renamed periodically; the agent follows all its names
   */
  record Sources(
      List<Integer> httpPorts, List<Integer> grpcPorts, Path traceLog, boolean rotates) {}

  /** One attempt to send a request. */
  private interface Attempt {
    boolean isTaken();
  }

  private final Truth truth;
  private final ExpectedPanes panes;

  /** Null if spans have no parents. */
  private final Calls calls;

  private final HttpClient http =
      HttpClient.newBuilder()
          .version(HttpClient.Version.HTTP_1_1)
          .connectTimeout(Duration.ofSeconds(2))
          .build();
  private final List<Thread> threads = new ArrayList<>();
  private final List<AtomicLong> confirmed;

  /** By agent: how many requests are under way. */
  private final List<AtomicLong> requests;

  /** Agents that get no new requests. */
  private final Set<Integer> held = ConcurrentHashMap.newKeySet();

  private final TraceLog traceLog;
  private final AtomicLong repeated = new AtomicLong();
  private final AtomicReference<String> refused = new AtomicReference<>();
  private volatile boolean stopped;

  /**
   * @param calls expects the edges of the spans; null if spans have no parents
   * @param spansPerSecond the rate of all senders together, at least 1
   */
  SpanLoad(
      Truth truth,
      ExpectedPanes panes,
      Calls calls,
      Traffic.Intervals intervals,
      Sources sources,
      int spansPerSecond,
      long seed)
      throws IOException {
    this.truth = truth;
    this.panes = panes;
    this.calls = calls;
    List<Integer> agents = sources.httpPorts;
    confirmed = agents.stream().map(port -> new AtomicLong()).toList();
    requests = agents.stream().map(port -> new AtomicLong()).toList();
    int senders = agents.size() * SENDERS_PER_AGENT;
    long pauseNanos =
        (long) (1e9 * senders * SPANS_PER_REQUEST * panes.panes().sendingPart() / spansPerSecond);
    SplittableRandom random = new SplittableRandom(seed);
    for (int i = 0; i < senders; i++) {
      int agent = i % agents.size();
      Function<byte[], Attempt> attempts =
          i < agents.size() && !sources.grpcPorts.isEmpty()
              ? overGrpc(sources.grpcPorts.get(agent))
              : overHttp(agents.get(agent));
      Traffic traffic = new Traffic(random.split(), SERVICES, intervals, calls);
      threads.add(
          Thread.ofPlatform()
              .name("sender-" + i)
              .unstarted(() -> send(agent, attempts, traffic, pauseNanos)));
    }
    Traffic lines = new Traffic(random.split(), List.of("legacy"), intervals);
    traceLog = new TraceLog(sources.traceLog, sources.rotates);
    threads.add(Thread.ofPlatform().name("trace-log").unstarted(() -> write(lines)));
  }

  void start() {
    threads.forEach(thread -> {
      thread.setDaemon(true);
      thread.start();
    });
  }

  private void send(
      int agent, Function<byte[], Attempt> attempts, Traffic traffic, long pauseNanos) {
    long dueNanos = System.nanoTime() + (long) (Math.random() * pauseNanos);
    while (!stopped) {
      LockSupport.parkNanos(Math.max(0, dueNanos - System.nanoTime()));
      long paneMillis = panes.panes().pauseMillis(System.currentTimeMillis());
      if (paneMillis > 0) {
        LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(paneMillis));
        continue;
      }
      // The sender does not catch up after an outage: the rate stays constant.
      dueNanos = Math.max(dueNanos + pauseNanos, System.nanoTime());
      requests.get(agent).incrementAndGet();
      if (!held.contains(agent)) {
        send(attempts, traffic.next(SPANS_PER_REQUEST));
        confirmed.get(agent).incrementAndGet();
      }
      requests.get(agent).decrementAndGet();
    }
  }

  private void send(Function<byte[], Attempt> attempts, List<SentSpan> spans) {
    Attempt attempt = attempts.apply(OtlpRequest.of(spans));
    long begunMillis = System.currentTimeMillis();
    while (!attempt.isTaken()) {
      repeated.incrementAndGet();
      LockSupport.parkNanos(RETRY_NANOS);
    }
    panes.add(spans, begunMillis, System.currentTimeMillis());
    add(spans);
  }

  private void add(List<SentSpan> accepted) {
    truth.add(accepted);
    if (calls != null) {
      accepted.forEach(calls::expect);
    }
  }

  private Function<byte[], Attempt> overHttp(int port) {
    URI uri = URI.create("http://127.0.0.1:" + port + "/v1/traces");
    return bytes -> {
      HttpRequest request =
          HttpRequest.newBuilder(uri)
              .timeout(REQUEST_TIMEOUT)
              .header("Content-Type", "application/x-protobuf")
              .POST(HttpRequest.BodyPublishers.ofByteArray(bytes))
              .build();
      return () -> isTaken(request);
    };
  }

  private Function<byte[], Attempt> overGrpc(int port) {
    ManagedChannel channel =
        Grpc.newChannelBuilderForAddress("127.0.0.1", port, InsecureChannelCredentials.create())
            .build();
    return bytes -> () -> isTaken(channel, bytes);
  }

  private boolean isTaken(ManagedChannel channel, byte[] request) {
    try {
      byte[] response =
          ClientCalls.blockingUnaryCall(
              channel,
              GrpcSender.EXPORT,
              CallOptions.DEFAULT.withDeadlineAfter(
                  REQUEST_TIMEOUT.toMillis(), TimeUnit.MILLISECONDS),
              request);
      if (response.length > 0) {
        refused.set("an agent refused spans of the load over gRPC in part");
      }
      return true;
    } catch (StatusRuntimeException e) {
      if (e.getStatus().getCode() == Status.Code.INVALID_ARGUMENT) {
        refused.set("an agent refused spans of the load: " + e.getStatus());
      }
      return false;
    }
  }

  private boolean isTaken(HttpRequest request) {
    try {
      HttpResponse<byte[]> response = http.send(request, HttpResponse.BodyHandlers.ofByteArray());
      int status = response.statusCode();
      if (status == 400 || status == 413 || (status == 200 && response.body().length > 0)) {
        refused.set("an agent refused spans of the load: status " + status);
      }
      return status == 200;
    } catch (IOException e) {
      return false;
    } catch (InterruptedException e) {
      // Only the end of the JVM interrupts senders.
      return false;
    }
  }

  private void write(Traffic traffic) {
    try (traceLog) {
      while (!stopped) {
        List<SentSpan> spans = traffic.next(LINES_PER_SECOND);
        panes.addAfter(spans, System.currentTimeMillis());
        traceLog.append(spans);
        add(spans);
        LockSupport.parkNanos(1_000_000_000L);
      }
    } catch (IOException e) {
      refused.set("the trace log cannot be written: " + e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Stops new requests; requests under way continue until they are answered. */
  void stop() {
    stopped = true;
  }

  /** Returns the number of senders whose last request has no answer yet. */
  long underWay() {
    return threads.stream().filter(Thread::isAlive).count();
  }

  /** Sends no new requests to an agent until {@link #release}; waits until all are answered. */
  void hold(int agent) throws InterruptedException {
    held.add(agent);
    while (requests.get(agent).get() > 0) {
      TimeUnit.NANOSECONDS.sleep(RETRY_NANOS);
    }
  }

  void release(int agent) {
    held.remove(agent);
  }

  TraceLog traceLog() {
    return traceLog;
  }

  /** Returns the number of accepted requests by agent. */
  List<Long> confirmed() {
    return confirmed.stream().map(AtomicLong::get).toList();
  }

  long repeated() {
    return repeated.get();
  }

  /** Returns why the run is invalid, or null. */
  String refused() {
    return refused.get();
  }
}
