package org.traceetl.server.canary;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.random.RandomGenerator;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManager;
import org.traceetl.common.Clocks;
import org.traceetl.common.LogThrottle;
import org.traceetl.common.Reason;
import org.traceetl.common.SteppedThread;
import org.traceetl.server.features.push.ClientTls;

/**
 * A canary: one thread sends probes over each path, reads what the servers, the index and
 * Prometheus have of them, and publishes the result on a port of its own.
 */
public final class Canary implements AutoCloseable {
  private static final Duration TIMEOUT = Duration.ofSeconds(5);

  /** A step has a handful of requests, each with a timeout. */
  private static final long STUCK_NANOS = TimeUnit.MINUTES.toNanos(3);

  private final Clocks clocks;
  private final long intervalNanos;
  private final List<CanaryPath> paths = new ArrayList<>();
  private final HttpReader servers;
  private final Pages pages;

  /** Null if it is not read. */
  private final TraceIndexReader index;

  private final HttpReader prometheusHttp;

  /** Null if it is not read. */
  private final PrometheusReader prometheus;

  private final CanaryPort port;
  private final SteppedThread thread;
  private volatile long steppedNanos;
  private volatile boolean hasStepped;

  private Canary(CanaryConfig config, Clocks clocks, RandomGenerator random) throws IOException {
    this.clocks = clocks;
    intervalNanos = config.interval().toNanos();
    SpanNames names = new SpanNames(random);
    CanaryPath.ProbeSource probes =
        path -> Probe.of(config.application(), names, path, clocks.millis(), random);
    TrustManager[] trusted = ClientTls.trusted("--ca-file", config.caFile());
    SSLContext tls = ClientTls.trusting(trusted);
    servers = new HttpReader(new BearerToken(config.serverToken()), TIMEOUT, tls);
    pages = new Pages(servers, names, config.list(), config.servers(), config.metric());
    index = config.isIndexRead() ? new TraceIndexReader(servers, config.application()) : null;
    prometheusHttp = new HttpReader(new BearerToken(null), TIMEOUT, tls);
    prometheus =
        config.prometheus() == null
            ? null
            : new PrometheusReader(prometheusHttp, names, config.prometheus(), config.metric());
    BearerToken agentToken = new BearerToken(config.agentToken());
    if (config.http() != null) {
      HttpReader http = new HttpReader(agentToken, TIMEOUT, tls);
      paths.add(
          new CanaryPath("http", new HttpSender(http, config.http()), probes, config, clocks));
    }
    if (config.grpc() != null) {
      SpanSender sender = new GrpcSender(config.grpc(), agentToken, TIMEOUT, trusted);
      paths.add(new CanaryPath("grpc", sender, probes, config, clocks));
    }
    if (config.ring() != null) {
      SpanSender sender = new RingSender(config.ring(), config.application(), TIMEOUT, clocks);
      paths.add(new CanaryPath("ring", sender, probes, config, clocks));
    }
    steppedNanos = clocks.nanos();
    thread =
        new SteppedThread(
            clocks, "trace-etl-canary", this::step, new LogThrottle(clocks.nanoClock()));
    port =
        new CanaryPort(
            config.address(),
            config.port(),
            new CanaryTelemetry(paths)::text,
            this::healthy,
            () -> hasStepped);
  }

  /**
   * Starts a canary. The caller may close it; otherwise it ends with the process.
   *
   * @throws IOException if its port cannot be opened; the message is for the operator
   */
  public static Canary start(CanaryConfig config, Clocks clocks, RandomGenerator random)
      throws IOException {
    Canary canary = new Canary(config, clocks, random);
    canary.thread.start();
    return canary;
  }

  /** Returns the port of metrics and health. */
  public int port() {
    return port.port();
  }

  private boolean healthy() {
    return thread.alive() && clocks.nanos() - steppedNanos < STUCK_NANOS + intervalNanos;
  }

  /** Returns the pause until the next step. */
  private long step() throws InterruptedException {
    long startNanos = clocks.nanos();
    for (CanaryPath path : paths) {
      path.send();
    }
    Pages.Answers answers = pages.read();
    for (CanaryPath path : paths) {
      path.show(answers);
      if (index != null) {
        path.checkIndex(index, answers.from());
      }
    }
    readPrometheus();
    paths.forEach(path -> path.judge(answers));
    steppedNanos = clocks.nanos();
    hasStepped = true;
    return Math.max(1, intervalNanos - (steppedNanos - startNanos));
  }

  private void readPrometheus() throws InterruptedException {
    if (prometheus == null) {
      return;
    }
    try {
      Map<String, Map<String, Long>> counts = prometheus.counts();
      paths.forEach(path -> path.store(counts.getOrDefault(path.name(), Map.of())));
    } catch (IOException e) {
      paths.forEach(path -> path.notStored(Reason.of(e)));
    }
  }

  @Override
  public void close() {
    port.close();
    thread.abort();
    thread.close();
    paths.forEach(CanaryPath::close);
    servers.close();
    prometheusHttp.close();
  }
}
