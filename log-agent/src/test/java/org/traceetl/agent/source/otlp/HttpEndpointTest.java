package org.traceetl.agent.source.otlp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.traceetl.agent.source.otlp.Samples.span;

import com.google.protobuf.ByteString;
import io.opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest;
import io.opentelemetry.proto.collector.trace.v1.ExportTraceServiceResponse;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.traceetl.agent.flow.Intake.Admission;
import org.traceetl.agent.source.otlp.OtlpMetrics.Refusal;

/** Tests the answers to HTTP senders. */
@Timeout(60)
class HttpEndpointTest {
  private static final String PROTOBUF = "application/x-protobuf";
  private static final String JSON = "application/json";
  private static final int MAX_REQUEST_BYTES = Receivers.MAX_REQUEST_BYTES;

  private final DecodingIntake intake = new DecodingIntake();
  private static final String TOO_LARGE =
      "the request has more than " + MAX_REQUEST_BYTES + " bytes (otlp.max-request-bytes)";

  private final HttpClient client = HttpClient.newHttpClient();
  private OtlpReceiver receiver;

  @BeforeEach
  void start() throws IOException {
    receiver = Receivers.startForOneSender(intake);
  }

  @AfterEach
  void stop() {
    client.close();
    receiver.close();
    intake.close();
  }

  @Test
  void protobufIsAnsweredInProtobuf() throws Exception {
    HttpResponse<byte[]> response = post(PROTOBUF, Samples.realistic(2).toByteArray());

    assertThat(response.statusCode()).isEqualTo(200);
    assertThat(contentType(response)).isEqualTo(PROTOBUF);
    assertThat(ExportTraceServiceResponse.parseFrom(response.body()))
        .isEqualTo(ExportTraceServiceResponse.getDefaultInstance());
    assertThat(intake.spans()).hasSize(2);
  }

  @Test
  void jsonIsAnsweredInJson() throws Exception {
    HttpResponse<byte[]> response =
        post(JSON + "; charset=utf-8", OtlpJson.of(Samples.realistic(2)));

    assertThat(response.statusCode()).isEqualTo(200);
    assertThat(contentType(response)).isEqualTo(JSON);
    assertThat(text(response)).isEqualTo("{}");
    assertThat(intake.spans()).hasSize(2);
  }

  @Test
  void rejectedSpansAreAPartialSuccess() throws Exception {
    ExportTraceServiceRequest request =
        Samples.request(span(1), span(2).setTraceId(ByteString.EMPTY));

    ExportTraceServiceResponse protobuf =
        ExportTraceServiceResponse.parseFrom(post(PROTOBUF, request.toByteArray()).body());
    assertThat(protobuf.getPartialSuccess().getRejectedSpans()).isEqualTo(1);
    assertThat(protobuf.getPartialSuccess().getErrorMessage()).isEqualTo("invalid_trace_id");
    assertThat(text(post(JSON, OtlpJson.of(request))))
        .isEqualTo(
            "{\"partialSuccess\":{\"rejectedSpans\":\"1\",\"errorMessage\":\"invalid_trace_id\"}}");
  }

  @Test
  void malformedPayloadsAreBadRequests() throws Exception {
    HttpResponse<byte[]> protobuf = post(PROTOBUF, new byte[] {1 << 3 | 2, 5});
    assertThat(protobuf.statusCode()).isEqualTo(400);
    assertThat(contentType(protobuf)).isEqualTo(PROTOBUF);
    assertThat(protobuf.body()).startsWith(8, 3);

    HttpResponse<byte[]> json = post(JSON, "{".getBytes(StandardCharsets.UTF_8));
    assertThat(json.statusCode()).isEqualTo(400);
    assertThat(text(json)).startsWith("{\"code\":3,\"message\":\"");
  }

  @ParameterizedTest
  @CsvSource({
    "FULL,429,1,RESOURCE_EXHAUSTED",
    "BROKER_AWAY,429,5,RESOURCE_EXHAUSTED",
    "STOPPING,503,5,UNAVAILABLE"
  })
  void refusalsSayWhenToRetry(
      Admission admission, int code, String seconds, io.grpc.Status.Code status) throws Exception {
    intake.refuse(admission, admission);

    HttpResponse<byte[]> protobuf = post(PROTOBUF, Samples.realistic(1).toByteArray());
    assertThat(protobuf.statusCode()).isEqualTo(code);
    assertThat(protobuf.headers().firstValue("retry-after")).contains(seconds);
    assertThat(protobuf.body()).startsWith(8, status.value());

    HttpResponse<byte[]> json = post(JSON, OtlpJson.of(Samples.realistic(1)));
    assertThat(json.statusCode()).isEqualTo(code);
    assertThat(json.headers().firstValue("retry-after")).contains(seconds);
    assertThat(text(json))
        .startsWith("{\"code\":" + status.value())
        .contains("\"retryDelay\":\"" + seconds + "s\"");
  }

  @Test
  void unconfirmedPayloadsAreUnavailable() throws Exception {
    intake.failWith("the agent stops");

    HttpResponse<byte[]> response = post(JSON, OtlpJson.of(Samples.realistic(1)));

    assertThat(response.statusCode()).isEqualTo(503);
    assertThat(text(response)).contains("the agent stops");
  }

  @ParameterizedTest
  @CsvSource({
    "GET,/v1/traces,application/json,identity,405",
    "POST,/v1/metrics,application/json,identity,404",
    "POST,/v1/traces/x,application/json,identity,404",
    "POST,/v1/traces,text/plain,identity,415",
    "POST,/v1/traces,application/json,zstd,415",
    "POST,/v1/traces?x=y,application/json,identity,200",
  })
  void unsupportedRequestsAreAnsweredWithTheReason(
      String method, String path, String contentType, String encoding, int code) throws Exception {
    HttpResponse<byte[]> response =
        send(
            request(path)
                .method(method, BodyPublishers.ofString("{}"))
                .header("Content-Type", contentType)
                .header("Content-Encoding", encoding));

    assertThat(response.statusCode()).isEqualTo(code);
    if (code != 200) {
      assertThat(contentType(response)).startsWith("text/plain");
      assertThat(text(response)).isNotBlank();
      assertThat(receiver.metrics().requestsRefused(Refusal.UNSUPPORTED)).isEqualTo(1);
    }
  }

  @Test
  void aRequestWithoutAContentTypeIsUnsupported() throws Exception {
    HttpResponse<byte[]> response = send(request("/v1/traces").POST(BodyPublishers.ofString("{}")));

    assertThat(response.statusCode()).isEqualTo(415);
  }

  @Test
  void gzipBodiesAreAccepted() throws Exception {
    assertThat(postGzip(gzip(Samples.realistic(5).toByteArray())).statusCode()).isEqualTo(200);
    assertThat(intake.spans()).hasSize(5);
  }

  @Test
  void gzipBombIsTooLarge() throws Exception {
    byte[] bomb = gzip(new byte[50 * 1024 * 1024]);
    assertThat(bomb.length).isLessThan(MAX_REQUEST_BYTES);

    assertThat(postGzip(bomb).statusCode()).isEqualTo(413);

    assertThat(intake.offers()).isEmpty();
    assertThat(receiver.metrics().requestsRefused(Refusal.TOO_LARGE)).isEqualTo(1);
  }

  @Test
  void damagedGzipIsABadRequest() throws Exception {
    byte[] whole = gzip(Samples.realistic(5).toByteArray());

    assertThat(postGzip(java.util.Arrays.copyOf(whole, 20)).statusCode()).isEqualTo(400);
    assertThat(postGzip(new byte[] {1, 2, 3}).statusCode()).isEqualTo(400);
    assertThat(receiver.metrics().requestsRefused(Refusal.MALFORMED)).isEqualTo(2);
  }

  @Test
  void aBodyAtTheLimitIsAcceptedAndAboveItRefused() throws Exception {
    assertThat(post(JSON, padded(MAX_REQUEST_BYTES)).statusCode()).isEqualTo(200);
    HttpResponse<byte[]> response = post(JSON, padded(MAX_REQUEST_BYTES + 1));
    assertThat(response.statusCode()).isEqualTo(413);
    assertThat(text(response)).contains(TOO_LARGE);
  }

  @Test
  void aRequestThatAsksWhetherToContinueLearnsTheLimit() throws Exception {
    HttpResponse<byte[]> response =
        send(
            request("/v1/traces")
                .header("Content-Type", JSON)
                .expectContinue(true)
                .POST(BodyPublishers.ofByteArray(padded(MAX_REQUEST_BYTES + 1))));

    assertThat(response.statusCode()).isEqualTo(413);
    assertThat(response.headers().firstValue("Content-Type")).contains(JSON);
    assertThat(text(response)).contains("\"code\":8", TOO_LARGE);
    assertThat(receiver.metrics().requestsRefused(Refusal.TOO_LARGE)).isEqualTo(1);
  }

  @Test
  void chunkedBodyAboveTheLimitIsRefused() throws Exception {
    byte[] body = padded(3 * MAX_REQUEST_BYTES);
    HttpResponse<byte[]> response =
        send(
            request("/v1/traces")
                .header("Content-Type", JSON)
                .POST(BodyPublishers.ofInputStream(() -> new java.io.ByteArrayInputStream(body))));

    assertThat(response.statusCode()).isEqualTo(413);
    assertThat(intake.offers()).isEmpty();
  }

  @Test
  void pipelinedRequestsAreAnsweredInOrderOnOneConnection() throws Exception {
    String good = raw("POST", "{}", "keep-alive");
    String bad = raw("POST", "{", "keep-alive");
    String last = raw("POST", "{}", "close");

    assertThat(statusLines(good + bad + good + last))
        .containsExactly(
            "HTTP/1.1 200 OK", "HTTP/1.1 400 Bad Request", "HTTP/1.1 200 OK", "HTTP/1.1 200 OK");
  }

  @Test
  void bytesThatAreNotHttpAreRefused() throws Exception {
    assertThat(statusLines("\u0016\u0003\u0001 hello\r\n\r\n"))
        .containsExactly("HTTP/1.1 400 Bad Request");
  }

  @Test
  void openConnectionsGetThePipelinesAnswerAfterStopAccepting() throws Exception {
    try (Socket socket = new Socket("127.0.0.1", receiver.httpPort())) {
      socket
          .getOutputStream()
          .write(raw("POST", "{}", "keep-alive").getBytes(StandardCharsets.US_ASCII));
      assertThat(socket.getInputStream().readNBytes(12))
          .asString(StandardCharsets.US_ASCII)
          .isEqualTo("HTTP/1.1 200");
      receiver.stopAccepting();
      intake.refuse(Admission.STOPPING);
      socket
          .getOutputStream()
          .write(raw("POST", "{}", "close").getBytes(StandardCharsets.US_ASCII));
      assertThat(new String(socket.getInputStream().readAllBytes(), StandardCharsets.US_ASCII))
          .contains("HTTP/1.1 503 Service Unavailable");
    }
  }

  @Test
  void aFullReadBudgetAsksSendersToRetryLater() throws Exception {
    try (Socket half = new Socket("127.0.0.1", receiver.httpPort())) {
      String whole = raw("POST", " ".repeat(90_000), "close");
      half.getOutputStream()
          .write(whole.substring(0, whole.length() - 1).getBytes(StandardCharsets.US_ASCII));

      await().until(() -> post(JSON, padded(80_000)).statusCode() == 429);
      HttpResponse<byte[]> refused = post(JSON, padded(80_000));
      assertThat(refused.statusCode()).isEqualTo(429);
      assertThat(refused.headers().firstValue("retry-after")).contains("1");
      assertThat(receiver.metrics().requestsRefused(Refusal.NO_ROOM)).isGreaterThan(1);
      assertThat(post(JSON, padded(40_000)).statusCode()).isEqualTo(200);
    }
    await().until(() -> post(JSON, padded(80_000)).statusCode() == 200);
    for (int i = 0; i < 5; i++) {
      assertThat(post(JSON, padded(80_000)).statusCode()).isEqualTo(200);
    }
  }

  private static String raw(String method, String body, String connection) {
    return method
        + " /v1/traces HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nConnection: "
        + connection
        + "\r\nContent-Length: "
        + body.length()
        + "\r\n\r\n"
        + body;
  }

  /** Sends the bytes and reads until the receiver closes. */
  private java.util.List<String> statusLines(String bytes) throws IOException {
    try (Socket socket = new Socket("127.0.0.1", receiver.httpPort())) {
      OutputStream out = socket.getOutputStream();
      out.write(bytes.getBytes(StandardCharsets.ISO_8859_1));
      String all = new String(socket.getInputStream().readAllBytes(), StandardCharsets.ISO_8859_1);
      return java.util.regex.Pattern.compile("HTTP/1\\.1 \\d+ [A-Za-z ]+")
          .matcher(all)
          .results()
          .map(java.util.regex.MatchResult::group)
          .toList();
    }
  }

  private static byte[] padded(int length) {
    return ("{" + " ".repeat(length - 2) + "}").getBytes(StandardCharsets.US_ASCII);
  }

  private HttpResponse<byte[]> post(String contentType, byte[] body) throws Exception {
    return send(
        request("/v1/traces")
            .header("Content-Type", contentType)
            .POST(BodyPublishers.ofByteArray(body)));
  }

  private HttpResponse<byte[]> postGzip(byte[] body) throws Exception {
    return send(
        request("/v1/traces")
            .header("Content-Type", PROTOBUF)
            .header("Content-Encoding", "gzip")
            .POST(BodyPublishers.ofByteArray(body)));
  }

  private HttpResponse<byte[]> send(HttpRequest.Builder request) throws Exception {
    return client.send(request.build(), BodyHandlers.ofByteArray());
  }

  private HttpRequest.Builder request(String path) {
    return HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + receiver.httpPort() + path))
        .version(HttpClient.Version.HTTP_1_1);
  }

  private static byte[] gzip(byte[] plain) throws IOException {
    ByteArrayOutputStream compressed = new ByteArrayOutputStream();
    try (GZIPOutputStream gzip = new GZIPOutputStream(compressed)) {
      gzip.write(plain);
    }
    return compressed.toByteArray();
  }

  private static String contentType(HttpResponse<byte[]> response) {
    return response.headers().firstValue("content-type").orElse("");
  }

  private static String text(HttpResponse<byte[]> response) {
    return new String(response.body(), StandardCharsets.UTF_8);
  }
}
