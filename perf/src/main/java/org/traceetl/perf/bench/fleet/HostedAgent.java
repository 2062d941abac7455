package org.traceetl.perf.bench.fleet;

import io.opentelemetry.proto.resource.v1.Resource;
import io.opentelemetry.proto.trace.v1.ScopeSpans;
import io.opentelemetry.proto.trace.v1.Span;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.LongAdder;
import org.traceetl.agent.Platform;
import org.traceetl.agent.RunningAgent;
import org.traceetl.agent.config.ConfigReader;
import org.traceetl.agent.flow.Completion;
import org.traceetl.agent.flow.Intake;
import org.traceetl.agent.source.otlp.OtlpRequests;
import org.traceetl.perf.bench.load.OtlpExport;

/**
 * An agent with all of its parts except its ports, and the applications of its host. Each
 * application exports a request in its turn. It follows a trace log that does not exist, because an
 * agent must have a source. For one thread.
 */
final class HostedAgent implements AutoCloseable {
  /** Spans end shortly before they are exported. */
  private static final long LONGEST_NANOS = 200_000_000;

  private final RunningAgent agent;
  private final OtlpRequests requests;
  private final List<Integer> applications;
  private final int operations;
  private final SplittableRandom random;
  private final Outcome outcome = new Outcome();
  private int turn;
  private int operation;

  /** What became of the requests. Called by the agent's pipeline. */
  private static final class Outcome implements Completion {
    final LongAdder accepted = new LongAdder();
    final LongAdder failed = new LongAdder();

    @Override
    public void confirmed(int spans, int rejected, String reason) {
      accepted.add(spans);
      failed.add(rejected);
    }

    @Override
    public void malformed(String reason) {
      throw new IllegalStateException(reason);
    }

    @Override
    public void failed(String reason) {
      failed.increment();
    }
  }

  private HostedAgent(RunningAgent agent, List<Integer> applications, int operations, long seed) {
    this.agent = agent;
    this.applications = applications;
    this.operations = operations;
    requests = agent.otlpRequests();
    random = new SplittableRandom(seed);
    turn = random.nextInt(applications.size());
  }

  /**
   * Starts an agent.
   *
   * @param home the directory for its state and its spool
   * @param applications numbers of the applications on its host
   * @param operations of each application
   */
  static HostedAgent start(
      Path home, String nameServer, List<Integer> applications, int operations, long seed)
      throws IOException {
    String yaml =
        """
        state-directory: %s
        otlp: {enabled: false}
        ring: {enabled: false}
        telemetry: {enabled: false}
        files: {paths: ["%s"], poll-interval-millis: 60000}
        rocketmq: {name-server: "%s"}
        """
            .formatted(home, home.resolve("spans.log"), nameServer);
    return new HostedAgent(
        RunningAgent.start(ConfigReader.read(yaml, Map.of()).config(), Platform.SYSTEM),
        applications,
        operations,
        seed);
  }

  /**
   * Lets the next application export a request.
   *
   * @return the spans sent; 0 if the agent cannot take the request now
   */
  int export(int spans) {
    byte[] request = request(applications.get(turn), spans);
    if (requests.offer(request, outcome) != Intake.Admission.ACCEPTED) {
      return 0;
    }
    turn = (turn + 1) % applications.size();
    return spans;
  }

  private byte[] request(int application, int spans) {
    ScopeSpans.Builder scope = ScopeSpans.newBuilder();
    long nowNanos = System.currentTimeMillis() * 1_000_000;
    for (int i = 0; i < spans; i++) {
      operation = (operation + 1) % operations;
      scope.addSpans(
          Span.newBuilder()
              .setTraceId(OtlpExport.id(random.nextLong(), random.nextLong()))
              .setSpanId(OtlpExport.id(random.nextLong()))
              .setName("GET /resource" + operation + "/{id}")
              .setKind(Span.SpanKind.SPAN_KIND_SERVER)
              .setStartTimeUnixNano(nowNanos - random.nextLong(LONGEST_NANOS))
              .setEndTimeUnixNano(nowNanos)
              .addAttributes(OtlpExport.attribute("http.request.method", "GET"))
              .addAttributes(OtlpExport.attribute("http.response.status_code", "200"))
              .addAttributes(OtlpExport.attribute("http.route", "/resource" + operation + "/{id}"))
              .addAttributes(OtlpExport.attribute("server.address", "10.0.0.1")));
    }
    return OtlpExport.request(
        Resource.newBuilder()
            .addAttributes(OtlpExport.attribute("service.name", "application-" + application)),
        scope);
  }

  /** Returns the spans that the agent has confirmed to the applications. */
  long accepted() {
    return outcome.accepted.sum();
  }

  /** Returns the requests that failed, and the spans that were rejected. */
  long failed() {
    return outcome.failed.sum();
  }

  String metricsPage() throws IOException {
    return agent.metricsPage();
  }

  @Override
  public void close() {
    agent.close();
  }
}
