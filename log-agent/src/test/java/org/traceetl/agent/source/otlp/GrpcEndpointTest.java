package org.traceetl.agent.source.otlp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.traceetl.agent.source.otlp.Samples.span;

import com.google.protobuf.ByteString;
import com.google.protobuf.UnknownFieldSet;
import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.grpc.stub.ClientCalls;
import io.opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest;
import io.opentelemetry.proto.collector.trace.v1.ExportTraceServiceResponse;
import java.io.IOException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.assertj.core.api.Assertions;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.traceetl.agent.flow.Intake.Admission;
import org.traceetl.agent.source.otlp.OtlpMetrics.Refusal;

/** Tests the answers to gRPC senders. */
@Timeout(60)
class GrpcEndpointTest {
  private static final Metadata.Key<byte[]> DETAILS =
      Metadata.Key.of("grpc-status-details-bin", Metadata.BINARY_BYTE_MARSHALLER);

  private final DecodingIntake intake = new DecodingIntake();
  private OtlpReceiver receiver;
  private ManagedChannel channel;

  @BeforeEach
  void start() throws IOException {
    receiver = Receivers.startForOneSender(intake);
    channel =
        NettyChannelBuilder.forAddress("127.0.0.1", receiver.grpcPort()).usePlaintext().build();
  }

  @AfterEach
  void stop() {
    channel.shutdownNow();
    receiver.close();
    intake.close();
  }

  @Test
  void confirmedSpansAreAnEmptyResponse() {
    assertThat(export(Samples.realistic(2).toByteArray(), "identity")).isEmpty();
    assertThat(intake.spans()).hasSize(2);
  }

  @Test
  void rejectedSpansAreAPartialSuccess() throws Exception {
    ExportTraceServiceRequest request =
        Samples.request(span(1), span(2).setSpanId(ByteString.EMPTY));

    ExportTraceServiceResponse response =
        ExportTraceServiceResponse.parseFrom(export(request.toByteArray(), "identity"));

    assertThat(response.getPartialSuccess().getRejectedSpans()).isEqualTo(1);
    assertThat(response.getPartialSuccess().getErrorMessage()).isEqualTo("invalid_span_id");
  }

  @ParameterizedTest
  @CsvSource({
    "FULL,RESOURCE_EXHAUSTED,1",
    "BROKER_AWAY,RESOURCE_EXHAUSTED,5",
    "STOPPING,UNAVAILABLE,5"
  })
  void refusalsSayWhenToRetry(Admission admission, Status.Code code, int seconds) {
    intake.refuse(admission);

    StatusRuntimeException error = failure(new byte[0]);

    assertThat(error.getStatus().getCode()).isEqualTo(code);
    // RetryInfo { retry_delay { seconds } } ends the details.
    assertThat(error.getTrailers().get(DETAILS)).endsWith(0x12, 4, 0x0A, 2, 8, seconds);
  }

  /** Logging the probes of a load balancer would fill the log. */
  @Test
  void requestsOfHttp1AreNotLogged() throws IOException {
    List<LogRecord> records = new CopyOnWriteArrayList<>();
    Handler recorder = new RecordingHandler(records);
    // A strong reference: the logging system forgets unreferenced loggers.
    Logger grpcLog = Logger.getLogger("io.grpc");
    grpcLog.addHandler(recorder);
    try (Socket probe = new Socket("127.0.0.1", receiver.grpcPort())) {
      probe
          .getOutputStream()
          .write("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
      probe.getInputStream().readAllBytes();
      // Waits until the connection has ended; a log record would exist by then.
      receiver.close();
    } finally {
      grpcLog.removeHandler(recorder);
    }

    assertThat(records).isEmpty();
  }

  @Test
  void malformedPayloadsAreInvalidArguments() {
    StatusRuntimeException error = failure(new byte[] {1 << 3 | 2, 5});

    assertThat(error.getStatus().getCode()).isEqualTo(Status.Code.INVALID_ARGUMENT);
    assertThat(error.getStatus().getDescription()).contains("truncated");
  }

  @Test
  void unconfirmedPayloadsAreUnavailable() {
    intake.failWith("the agent stops");

    StatusRuntimeException error = failure(new byte[0]);

    assertThat(error.getStatus().getCode()).isEqualTo(Status.Code.UNAVAILABLE);
    assertThat(error.getStatus().getDescription()).isEqualTo("the agent stops");
  }

  @ParameterizedTest
  @ValueSource(strings = {"identity", "gzip"})
  void requestsAboveTheLimitMustNotBeRetried(String compression) {
    byte[] zeros = new byte[50 * 1024 * 1024];

    StatusRuntimeException error =
        Assertions.catchThrowableOfType(
            StatusRuntimeException.class, () -> export(zeros, compression));

    assertThat(error.getStatus().getCode()).isEqualTo(Status.Code.RESOURCE_EXHAUSTED);
    assertThat(error.getTrailers().get(DETAILS)).isNull();
    assertThat(intake.offers()).isEmpty();
  }

  @Test
  void otherServicesAreUnimplemented() {
    StatusRuntimeException error =
        Assertions.catchThrowableOfType(
            StatusRuntimeException.class,
            () ->
                call(
                    "opentelemetry.proto.collector.metrics.v1.MetricsService/Export",
                    new byte[0],
                    "identity"));

    assertThat(error.getStatus().getCode()).isEqualTo(Status.Code.UNIMPLEMENTED);
  }

  @Test
  void aFullReadBudgetAsksSendersToRetryLater() {
    byte[] large =
        ExportTraceServiceRequest.newBuilder()
            .setUnknownFields(
                UnknownFieldSet.newBuilder()
                    .addField(
                        1_000,
                        UnknownFieldSet.Field.newBuilder()
                            .addLengthDelimited(ByteString.copyFrom(new byte[80_000]))
                            .build())
                    .build())
            .build()
            .toByteArray();
    ClientCall<byte[], byte[]> unended = channel.newCall(Receivers.EXPORT, CallOptions.DEFAULT);
    unended.start(new ClientCall.Listener<>() {}, new Metadata());
    unended.sendMessage(large);

    await().until(() -> code(large, "identity") == Status.Code.UNAVAILABLE);
    assertThat(code(large, "gzip")).isEqualTo(Status.Code.UNAVAILABLE);
    assertThat(receiver.metrics().requestsRefused(Refusal.NO_ROOM)).isGreaterThan(1);

    unended.cancel("as the test wants it", null);
    await().until(() -> code(large, "identity") == Status.Code.OK);
    for (int i = 0; i < 5; i++) {
      assertThat(code(large, "gzip")).isEqualTo(Status.Code.OK);
    }
  }

  private Status.Code code(byte[] request, String compression) {
    try {
      export(request, compression);
      return Status.Code.OK;
    } catch (StatusRuntimeException e) {
      return e.getStatus().getCode();
    }
  }

  private StatusRuntimeException failure(byte[] request) {
    return Assertions.catchThrowableOfType(
        StatusRuntimeException.class, () -> export(request, "identity"));
  }

  private byte[] export(byte[] request, String compression) {
    return call(GrpcEndpoint.SERVICE + "/Export", request, compression);
  }

  private byte[] call(String method, byte[] request, String compression) {
    return ClientCalls.blockingUnaryCall(
        channel,
        Receivers.EXPORT.toBuilder().setFullMethodName(method).build(),
        Receivers.compressed(compression),
        request);
  }

  private static final class RecordingHandler extends Handler {
    private final List<LogRecord> records;

    RecordingHandler(List<LogRecord> records) {
      this.records = records;
    }

    @Override
    public void publish(LogRecord record) {
      records.add(record);
    }

    @Override
    public void flush() {}

    @Override
    public void close() {}
  }
}
