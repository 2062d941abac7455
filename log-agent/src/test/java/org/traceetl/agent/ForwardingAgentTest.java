package org.traceetl.agent;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.traceetl.agent.AgentPage.value;

import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.SpanId;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.TraceFlags;
import io.opentelemetry.api.trace.TraceId;
import io.opentelemetry.api.trace.TraceState;
import io.opentelemetry.sdk.testing.trace.TestSpanData;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.opentelemetry.sdk.trace.data.StatusData;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.traceetl.agent.config.ConfigReader;
import org.traceetl.agent.disk.Disk;
import org.traceetl.agent.publish.MemoryTransport;
import org.traceetl.agent.route.BrokerQueue;
import org.traceetl.agent.source.otlp.Samples;
import org.traceetl.common.Clocks;
import org.traceetl.exporter.ring.RingSize;
import org.traceetl.exporter.ring.RingWriter;

/** Agents that forward to other agents, which are receivers of OTLP. */
@Timeout(120)
final class ForwardingAgentTest {
  private static final String ENDPOINT =
      "{name: %s, url: 'http://127.0.0.1:%d', compression: %s, token-file: '%s'}";

  @TempDir private Path directory;

  private final HttpClient client = HttpClient.newHttpClient();
  private Path token;

  @Test
  void acceptedRequestsReachEachEndpointAndOthersDoNot() throws Exception {
    token = Files.writeString(directory.resolve("token"), "hunter2");
    try (RunningAgent first = receiver("first");
        RunningAgent second = receiver("second");
        RunningAgent agent =
            sender(
                ENDPOINT.formatted("first", port(first), "gzip", token),
                ENDPOINT.formatted("second", port(second), "none", token))) {
      await().until(() -> agent.problem().isEmpty());
      byte[] spans = Samples.realistic(100).toByteArray();
      assertThat(post(agent, "application/x-protobuf", spans)).isEqualTo(200);
      // A repeat is not forwarded, nor is what is malformed.
      assertThat(post(agent, "application/x-protobuf", spans)).isEqualTo(200);
      assertThat(post(agent, "application/json", "{".getBytes(UTF_8))).isEqualTo(400);
      assertThat(post(agent, "application/json", json().getBytes(UTF_8))).isEqualTo(200);

      for (RunningAgent each : List.of(first, second)) {
        await().until(() -> value(each, "spans_accepted_total{source=\"otlp_http\",}") == 101);
        assertThat(value(each, "payload_bytes_total{source=\"otlp_http\",}"))
            .isEqualTo(spans.length + json().length());
      }
      await().until(() -> value(agent, "forward_requests_total{.*}") == 4);
      assertThat(value(agent, "forward_dropped_total{.*}")).isZero();
      await().until(() -> value(agent, "forward_backlog_bytes{.*}") == 0);
      assertThat(agent.drain(Duration.ofSeconds(20))).isTrue();
      assertThat(directory.resolve("sender/forward").toFile().list()).containsExactly("positions");
    }
  }

  @Test
  void requestsWaitOnDiskForAnEndpointThatIsAway() throws Exception {
    token = Files.writeString(directory.resolve("token"), "hunter2");
    int port = freePort();
    String endpoint = ENDPOINT.formatted("away", port, "gzip", token);
    try (RunningAgent agent = sender(endpoint)) {
      await().until(() -> agent.problem().isEmpty());
      for (int i = 1; i <= 20; i++) {
        assertThat(post(agent, "application/x-protobuf", Samples.realistic(i).toByteArray()))
            .isEqualTo(200);
      }
      await().until(() -> value(agent, "forward_retries_total{.*}") > 0);
      assertThat(value(agent, "forward_backlog_bytes{endpoint=\"away\",}")).isPositive();
      assertThat(value(agent, "spans_accepted_total{source=\"otlp_http\",}")).isEqualTo(210);
    }
    try (RunningAgent endpointAgent = receiver("away", port);
        RunningAgent agent = sender(endpoint)) {
      await()
          .until(() -> value(endpointAgent, "spans_accepted_total{source=\"otlp_http\",}") == 210);
      await().until(() -> value(agent, "forward_backlog_bytes{.*}") == 0);
    }
  }

  @Test
  void spansOfARingAndATraceLogReachAReceiverOfOtlp() throws Exception {
    token = Files.writeString(directory.resolve("token"), "hunter2");
    Path rings = directory.resolve("rings");
    Path traceLog = directory.resolve("trace.log");
    Files.writeString(
        traceLog,
        IntStream.rangeClosed(1, 200)
            .mapToObj(ForwardingAgentTest::line)
            .collect(Collectors.joining("", "", "no span\n")));
    String more =
        "ring: {directory: %s}\nfiles.paths: [%s]\nforward: {endpoints: [%s]}\n"
            .formatted(rings, traceLog, ENDPOINT);
    try (RunningAgent receiver = receiver("receiver");
        RunningAgent agent =
            start("sender", 0, "", more.formatted("first", port(receiver), "gzip", token))) {
      await().until(() -> agent.problem().isEmpty() && Files.exists(rings.resolve("wake")));
      try (RingWriter ring =
          RingWriter.create(
              rings,
              RingSize.of(1 << 20, 1 << 16),
              Attributes.builder().put("service.name", "shop").build())) {
        for (int i = 1; i <= 300; i++) {
          assertThat(ring.write(ringSpan(i))).isTrue();
        }
        await().until(() -> value(receiver, "spans_accepted_total{source=\"otlp_http\",}") == 500);
      }
      // The books: what counted here is stored, and what is stored arrived.
      assertThat(value(agent, "spans_accepted_total{source=\"ring\",}")).isEqualTo(300);
      assertThat(value(agent, encoded("ring", "stored"))).isEqualTo(300);
      assertThat(value(agent, encoded("ring", ".*"))).isEqualTo(300);
      assertThat(value(agent, encoded("file", "stored"))).isEqualTo(200);
      assertThat(value(agent, encoded("file", "malformed"))).isEqualTo(1);
      assertThat(value(agent, encoded("file", ".*"))).isEqualTo(201);
      assertThat(value(receiver, "spans_rejected_total{.*}")).isZero();
      assertThat(value(agent, "forward_dropped_total{.*}")).isZero();
      assertThat(agent.drain(Duration.ofSeconds(20))).isTrue();
    }
  }

  @Test
  void withTailKeepingAReceiverGetsSlowAndFailedTracesOfAllSourcesAndNoOthers() throws Exception {
    token = Files.writeString(directory.resolve("token"), "hunter2");
    Path rings = directory.resolve("rings");
    Path traceLog = directory.resolve("trace.log");
    // Spans of a trace in which one takes 1.5 s.
    String lines =
        IntStream.rangeClosed(1, 20)
            .mapToObj(ForwardingAgentTest::line)
            .collect(Collectors.joining());
    Files.writeString(traceLog, lines + line(21).replace("### 1500000 ###", "### 1500000000 ###"));
    String more =
        """
        ring: {directory: %s}
        files.paths: [%s]
        forward:
          endpoints: [%s]
          keep: {enabled: true, wait-millis: 1000, slow-millis: 1000, ratio: 0}
        """;
    try (RunningAgent receiver = receiver("receiver");
        RunningAgent agent =
            start(
                "sender",
                0,
                "",
                more.formatted(
                    rings, traceLog, ENDPOINT.formatted("a", port(receiver), "gzip", token)))) {
      await().until(() -> agent.problem().isEmpty() && Files.exists(rings.resolve("wake")));
      // All of these 100 have failed, each in a trace of its own; the others have not.
      assertThat(post(agent, "application/x-protobuf", Samples.realistic(100).toByteArray()))
          .isEqualTo(200);
      byte[] other = json().replace("0af7", "0bf7").getBytes(UTF_8);
      assertThat(post(agent, "application/json", other)).isEqualTo(200);
      try (RingWriter ring =
          RingWriter.create(
              rings,
              RingSize.of(1 << 20, 1 << 16),
              Attributes.builder().put("service.name", "shop").build())) {
        for (int i = 1; i <= 300; i++) {
          assertThat(ring.write(ringSpan(i))).isTrue();
        }
        await().until(() -> value(agent, "forward_keep_spans_total{.*}") == 422);
      }
      await().until(() -> value(agent, "forward_backlog_bytes{.*}") == 0);
      assertThat(value(agent, kept("failed"))).isEqualTo(100);
      assertThat(value(agent, kept("slow"))).isEqualTo(1);
      assertThat(value(agent, kept("trace"))).isEqualTo(20);
      assertThat(value(agent, kept("left_out"))).isEqualTo(301);
      assertThat(value(receiver, "spans_accepted_total{source=\"otlp_http\",}")).isEqualTo(121);
      assertThat(value(receiver, "spans_rejected_total{.*}")).isZero();
      // All of them counted.
      assertThat(value(agent, "spans_accepted_total{.*}")).isEqualTo(422);
      assertThat(value(agent, "forward_dropped_total{.*}")).isZero();
      assertThat(value(agent, "forward_keep_waiting_bytes")).isZero();
    }
  }

  private static String kept(String outcome) {
    return "forward_keep_spans_total{outcome=\"%s\",}".formatted(outcome);
  }

  private static String encoded(String source, String outcome) {
    return "forward_encoded_spans_total{source=\"%s\",outcome=\"%s\",}".formatted(source, outcome);
  }

  private static SpanData ringSpan(int number) {
    return TestSpanData.builder()
        .setSpanContext(
            SpanContext.create(
                TraceId.fromLongs(7, number),
                SpanId.fromLong(number),
                TraceFlags.getSampled(),
                TraceState.getDefault()))
        .setName("GET /" + number % 5)
        .setKind(SpanKind.SERVER)
        .setStatus(StatusData.unset())
        .setStartEpochNanos(1_795_255_028_000_000_000L + number)
        .setEndEpochNanos(1_795_255_028_100_000_000L + number)
        .setHasEnded(true)
        .setAttributes(Attributes.builder().put("http.response.status_code", 200).build())
        .build();
  }

  private static String line(int number) {
    return String.join(
            " ### ",
            "1795255028312000000",
            "1500000",
            "10.0.0.7",
            "cart",
            "GET /cart",
            "UNSET",
            "0af7651916cd43dd8448eb211c80319c",
            String.format("%016x", number),
            "[]",
            "[]",
            "{\"serviceName\":\"cart\",\"tags\":[]}",
            "[]")
        + " ### \n";
  }

  @Test
  void aRefusingEndpointCostsOnlyItsOwnRequests() throws Exception {
    token = Files.writeString(directory.resolve("token"), "wrong");
    try (RunningAgent first = receiver("first");
        RunningAgent agent = sender(ENDPOINT.formatted("first", port(first), "gzip", token))) {
      await().until(() -> agent.problem().isEmpty());
      assertThat(post(agent, "application/x-protobuf", Samples.realistic(3).toByteArray()))
          .isEqualTo(200);
      await()
          .until(() ->
              value(agent, "forward_dropped_total{endpoint=\"first\",reason=\"refused\",}") == 1);
      Files.writeString(token, "hunter2");
      assertThat(post(agent, "application/x-protobuf", Samples.realistic(4).toByteArray()))
          .isEqualTo(200);
      await().until(() -> value(first, "spans_accepted_total{source=\"otlp_http\",}") == 4);
      assertThat(value(agent, "spans_accepted_total{source=\"otlp_http\",}")).isEqualTo(7);
    }
  }

  @Test
  void aLoopOfTwoAgentsEndsAfterOneRound() throws Exception {
    token = Files.writeString(directory.resolve("token"), "hunter2");
    int port = freePort();
    int otherPort = freePort();
    String toOther = ENDPOINT.formatted("other", otherPort, "gzip", token);
    String back = ENDPOINT.formatted("back", port, "gzip", token);
    try (RunningAgent agent = start("one", port, "forward: {endpoints: [" + toOther + "]}\n");
        RunningAgent other = start("other", otherPort, "forward: {endpoints: [" + back + "]}\n")) {
      await().until(() -> agent.problem().isEmpty() && other.problem().isEmpty());
      byte[] spans = Samples.realistic(10).toByteArray();
      assertThat(post(agent, "application/x-protobuf", spans)).isEqualTo(200);

      await().until(() -> value(other, "forward_requests_total{.*}") == 1);
      assertThat(value(agent, "otlp_requests_repeated_total")).isEqualTo(1);
      assertThat(value(other, "otlp_requests_repeated_total")).isZero();
      for (RunningAgent each : List.of(agent, other)) {
        assertThat(value(each, "spans_accepted_total{source=\"otlp_http\",}")).isEqualTo(10);
        await().until(() -> value(each, "forward_backlog_bytes{.*}") == 0);
        assertThat(value(each, "forward_requests_total{.*}")).isEqualTo(1);
      }
    }
  }

  @Test
  void withoutEndpointsThereIsNoThreadFolderOrMetric() throws Exception {
    try (RunningAgent agent = start("plain", 0, "")) {
      assertThat(agent.metricsPage()).doesNotContain("_forward_");
      assertThat(directory.resolve("plain/forward")).doesNotExist();
      Set<String> threads =
          Thread.getAllStackTraces().keySet().stream()
              .map(Thread::getName)
              .collect(Collectors.toSet());
      assertThat(threads).noneMatch(name -> name.startsWith("forward-"));
    }
  }

  private RunningAgent receiver(String name) throws IOException {
    return receiver(name, 0);
  }

  private RunningAgent receiver(String name, int port) throws IOException {
    RunningAgent agent = start(name, port, "otlp.token: hunter2\n");
    await().until(() -> agent.problem().isEmpty());
    return agent;
  }

  private RunningAgent sender(String... endpoints) throws IOException {
    return start("sender", 0, "forward: {endpoints: [" + String.join(", ", endpoints) + "]}\n");
  }

  private RunningAgent start(String name, int port, String more) throws IOException {
    return start(name, port, "ring: {enabled: false}\n", more);
  }

  private RunningAgent start(String name, int port, String ring, String more) throws IOException {
    String yaml =
        """
        state-directory: %s
        otlp.host: 127.0.0.1
        otlp.grpc-port: 0
        otlp.http-port: %d
        telemetry: {host: 127.0.0.1, port: 0}
        routing: {hotspots: false, learnt-names: false}
        detail: {default: full}
        rocketmq: {bundles: off}
        """
            .formatted(directory.resolve(name), port);
    MemoryTransport transport =
        new MemoryTransport() {
          @Override
          public List<BrokerQueue> queues() {
            return List.of(new BrokerQueue("broker-a", 0));
          }
        };
    return RunningAgent.start(
        ConfigReader.read(yaml + ring + more, Map.of()).config(),
        new Platform(
            Clocks.SYSTEM, new Random(7), Disk.SYSTEM, (config, identity) -> transport, "host"));
  }

  private static int port(RunningAgent agent) {
    return agent.otlpHttpPort().orElseThrow();
  }

  private static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    }
  }

  private int post(RunningAgent agent, String type, byte[] body) throws Exception {
    return client
        .send(
            HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port(agent) + "/v1/traces"))
                .header("Content-Type", type)
                .POST(HttpRequest.BodyPublishers.ofByteArray(body))
                .build(),
            BodyHandlers.discarding())
        .statusCode();
  }

  private static String json() {
    return """
    {"resourceSpans": [{"scopeSpans": [{"spans": [
      {"traceId": "0af7651916cd43dd8448eb211c80319c", "spanId": "00f067aa0ba902b7", "name": "op",
       "kind": 2, "startTimeUnixNano": "1795255028312000000",
       "endTimeUnixNano": "1795255028412000000"}]}]}]}\
    """;
  }
}
