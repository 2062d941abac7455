package org.traceetl.agent.source.otlp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.exporter.otlp.http.trace.OtlpHttpSpanExporter;
import io.opentelemetry.exporter.otlp.trace.OtlpGrpcSpanExporter;
import io.opentelemetry.sdk.common.CompletableResultCode;
import io.opentelemetry.sdk.common.export.RetryPolicy;
import io.opentelemetry.sdk.resources.Resource;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.opentelemetry.sdk.trace.export.SimpleSpanProcessor;
import io.opentelemetry.sdk.trace.export.SpanExporter;
import java.io.IOException;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.traceetl.agent.config.OtlpConfig;
import org.traceetl.agent.flow.AnsweredRequests;
import org.traceetl.agent.flow.Intake.Admission;
import org.traceetl.agent.http.NettyTransport;
import org.traceetl.agent.source.payload.RecordingSink.Recorded;
import org.traceetl.common.Clocks;

/** Tests the receiver with the exporters of the OpenTelemetry SDK. */
@Timeout(60)
class OtlpReceiverTest {
  private enum Client {
    GRPC,
    HTTP_OKHTTP,
    HTTP_JDK
  }

  private static final OtlpConfig CONFIG = new OtlpConfig(true, "127.0.0.1", 0, 0, 1 << 20);

  private final DecodingIntake intake = new DecodingIntake();
  private OtlpReceiver receiver;

  @BeforeEach
  void start() throws IOException {
    receiver = Receivers.start(CONFIG, 64 << 20, intake);
  }

  @AfterEach
  void stop() {
    receiver.close();
    intake.close();
  }

  @ParameterizedTest
  @CsvSource({
    "GRPC,none",
    "GRPC,gzip",
    "HTTP_OKHTTP,none",
    "HTTP_OKHTTP,gzip",
    "HTTP_JDK,none",
    "HTTP_JDK,gzip"
  })
  void spansOfTheSdkArrive(Client client, String compression) {
    List<SpanData> sent = spans(300);

    assertThat(export(client, compression, sent).isSuccess()).isTrue();

    assertThat(intake.spans()).hasSize(300);
    Recorded first = intake.spans().getFirst();
    SpanData expected = sent.getFirst();
    assertThat(first.resource()).containsEntry("service.name", "checkout");
    assertThat("%016x%016x".formatted(first.traceIdHigh(), first.traceIdLow()))
        .isEqualTo(expected.getTraceId());
    assertThat("%016x".formatted(first.spanId())).isEqualTo(expected.getSpanId());
    assertThat(first.name()).isEqualTo("GET /users/0");
    assertThat(first.kind()).isEqualTo(2);
    assertThat(first.status()).isEqualTo(2);
    assertThat(first.statusMessage()).isEqualTo("boom");
    assertThat(first.startUnixNanos()).isEqualTo(expected.getStartEpochNanos());
    assertThat(first.durationNanos())
        .isEqualTo(expected.getEndEpochNanos() - expected.getStartEpochNanos());
    assertThat(first.attributes())
        .containsExactlyInAnyOrderEntriesOf(
            Map.of(
                "text",
                "x",
                "number",
                "0",
                "flag",
                "true",
                "real",
                "1.5",
                "list",
                "[\"a\",\"b\"]"));
  }

  @ParameterizedTest
  @EnumSource(Client.class)
  void sendersRetryARefusedRequest(Client client) {
    intake.refuse(Admission.FULL, Admission.BROKER_AWAY);

    assertThat(export(client, "gzip", spans(3)).isSuccess()).isTrue();

    assertThat(intake.offers()).hasSize(3);
    assertThat(intake.spans()).hasSize(3);
  }

  @ParameterizedTest
  @EnumSource(Client.class)
  void sendersRetryAnUnconfirmedRequest(Client client) {
    intake.refuse(Admission.STOPPING);

    assertThat(export(client, "none", spans(3)).isSuccess()).isTrue();

    assertThat(intake.offers()).hasSize(2);
    assertThat(intake.spans()).hasSize(3);
  }

  @ParameterizedTest
  @EnumSource(Client.class)
  void requestsAboveTheLimitAreRefused(Client client) {
    // The payload compresses well, so the limit must apply to the decompressed bytes.
    List<SpanData> many = spans(12_000);

    assertThat(export(client, "gzip", many).isSuccess()).isFalse();

    assertThat(intake.offers()).isEmpty();
  }

  @Test
  void nioServesAsEpollDoes() throws Exception {
    try (OtlpReceiver nio =
        new OtlpReceiver(
            CONFIG, 64 << 20, intake, new AnsweredRequests(0), Clocks.SYSTEM, NettyTransport.NIO)) {
      nio.start();
      for (Client client : Client.values()) {
        assertThat(export(client, "none", spans(3), nio).isSuccess()).isTrue();
      }
    }
    assertThat(intake.spans()).hasSize(9);
  }

  @ParameterizedTest
  @ValueSource(strings = {"otlp.grpc-port", "otlp.http-port"})
  void anErrorNamesAPortInUse(String key) throws Exception {
    try (ServerSocket taken = new ServerSocket(0)) {
      int port = taken.getLocalPort();
      boolean grpc = key.equals("otlp.grpc-port");
      OtlpConfig config =
          new OtlpConfig(
              true, "0.0.0.0", grpc ? port : 0, grpc ? 0 : port, CONFIG.maxRequestBytes());
      try (OtlpReceiver second =
          new OtlpReceiver(config, 64 << 20, intake, new AnsweredRequests(0), Clocks.SYSTEM)) {
        assertThatThrownBy(second::start)
            .isInstanceOf(IOException.class)
            .hasMessage(
                key
                    + " = "
                    + port
                    + ": cannot listen on 0.0.0.0 (Address already in use): free the port or"
                    + " choose another");
      }
    }
  }

  @Test
  void closeMayComeTwiceAndBeforeStart() throws IOException {
    OtlpReceiver unstarted =
        new OtlpReceiver(CONFIG, 64 << 20, intake, new AnsweredRequests(0), Clocks.SYSTEM);
    unstarted.close();
    unstarted.close();
    receiver.stopAccepting();
    receiver.stopAccepting();
    receiver.close();
    receiver.close();
  }

  private CompletableResultCode export(Client client, String compression, List<SpanData> spans) {
    return export(client, compression, spans, receiver);
  }

  private static CompletableResultCode export(
      Client client, String compression, List<SpanData> spans, OtlpReceiver receiver) {
    try (SpanExporter exporter = exporter(client, compression, receiver)) {
      return exporter.export(spans).join(30, TimeUnit.SECONDS);
    }
  }

  private static SpanExporter exporter(Client client, String compression, OtlpReceiver receiver) {
    RetryPolicy retry =
        RetryPolicy.builder()
            .setInitialBackoff(Duration.ofMillis(10))
            .setMaxBackoff(Duration.ofMillis(50))
            .build();
    if (client == Client.GRPC) {
      return OtlpGrpcSpanExporter.builder()
          .setEndpoint("http://127.0.0.1:" + receiver.grpcPort())
          .setCompression(compression)
          .setRetryPolicy(retry)
          .setTimeout(Duration.ofSeconds(30))
          .build();
    }
    return Receivers.build(
        OtlpHttpSpanExporter.builder()
            .setEndpoint("http://127.0.0.1:" + receiver.httpPort() + "/v1/traces")
            .setCompression(compression)
            .setRetryPolicy(retry)
            .setTimeout(Duration.ofSeconds(30)),
        client == Client.HTTP_JDK);
  }

  static List<SpanData> spans(int count) {
    List<SpanData> ended = new ArrayList<>();
    SpanExporter keep =
        new SpanExporter() {
          @Override
          public CompletableResultCode export(Collection<SpanData> spans) {
            ended.addAll(spans);
            return CompletableResultCode.ofSuccess();
          }

          @Override
          public CompletableResultCode flush() {
            return CompletableResultCode.ofSuccess();
          }

          @Override
          public CompletableResultCode shutdown() {
            return CompletableResultCode.ofSuccess();
          }
        };
    try (SdkTracerProvider provider =
        SdkTracerProvider.builder()
            .setResource(
                Resource.create(Attributes.builder().put("service.name", "checkout").build()))
            .addSpanProcessor(SimpleSpanProcessor.create(keep))
            .build()) {
      for (int i = 0; i < count; i++) {
        provider
            .get("test")
            .spanBuilder("GET /users/" + i)
            .setSpanKind(SpanKind.SERVER)
            .setAttribute("text", "x")
            .setAttribute("number", i)
            .setAttribute("flag", true)
            .setAttribute("real", 1.5)
            .setAttribute(
                io.opentelemetry.api.common.AttributeKey.stringArrayKey("list"), List.of("a", "b"))
            .startSpan()
            .setStatus(StatusCode.ERROR, "boom")
            .end();
      }
    }
    return ended;
  }
}
