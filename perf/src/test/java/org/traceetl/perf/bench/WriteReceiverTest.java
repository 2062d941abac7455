package org.traceetl.perf.bench;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.traceetl.perf.bench.WriteRequests.Series;

final class WriteReceiverTest {
  private static final String SENDER = "sender";

  private final HttpClient http = HttpClient.newHttpClient();
  private WriteReceiver receiver;
  private Written written;

  @BeforeEach
  void start() throws IOException {
    receiver = new WriteReceiver();
    written = receiver.accept(SENDER);
  }

  @AfterEach
  void stop() {
    receiver.close();
    http.shutdownNow();
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void callsOfAllSeriesAreSummedByTime(boolean isV2) throws Exception {
    send(isV2, calls("a", 3, 5_000), calls("b", 4, 5_000), other("a", 100, 5_000));
    HttpResponse<String> answer = send(isV2, calls("a", 5, 10_000), calls("b", 4, 10_000));

    assertThat(answer.statusCode()).isEqualTo(204);
    assertThat(answer.headers().firstValue("X-Prometheus-Remote-Write-Samples-Written"))
        .hasValue("2");
    assertThat(written.series()).isEqualTo(2);
    assertThat(written.calls()).isEqualTo(9);
    assertThat(written.increases()).isEqualTo(Map.of(5_000L, 7.0, 10_000L, 2.0));
    assertThat(written.totals().samples()).isEqualTo(5);
    assertThat(written.totals().requests()).isEqualTo(2);
  }

  @Test
  void bytesAreThoseOfTheBodies() throws Exception {
    byte[] body = WriteRequests.v1(calls("a", 3, 5_000));

    send(false, body);

    assertThat(written.totals().bytes()).isEqualTo(body.length);
  }

  @Test
  void sendersAreCountedSeparately() throws Exception {
    Written another = receiver.accept("another");

    send(true, calls("a", 3, 5_000));

    assertThat(written.calls()).isEqualTo(3);
    assertThat(another.totals()).isEqualTo(new Written.Totals(0, 0, 0));
  }

  @Test
  void whileItIsAwayNothingIsWritten() throws Exception {
    receiver.away(true);
    assertThat(send(true, calls("a", 3, 5_000)).statusCode()).isEqualTo(503);
    assertThat(written.totals()).isEqualTo(new Written.Totals(0, 0, 0));

    receiver.away(false);
    assertThat(send(true, calls("a", 3, 5_000)).statusCode()).isEqualTo(204);
    assertThat(written.calls()).isEqualTo(3);
  }

  @Test
  void aBodyThatIsNoRequestIsRefused() throws Exception {
    assertThat(send(true, new byte[] {3, 1, 2}).statusCode()).isEqualTo(400);
    assertThat(written.totals().requests()).isZero();
  }

  private static Series calls(String application, double value, long atMillis) {
    return new Series(
        List.of("__name__", Written.CALLS, "service_name", application), value, atMillis);
  }

  private static Series other(String application, double value, long atMillis) {
    return new Series(
        List.of("__name__", "another_total", "service_name", application), value, atMillis);
  }

  private HttpResponse<String> send(boolean isV2, Series... series)
      throws IOException, InterruptedException {
    Function<Series[], byte[]> encode = isV2 ? WriteRequests::v2 : WriteRequests::v1;
    return send(isV2, encode.apply(series));
  }

  private HttpResponse<String> send(boolean isV2, byte[] body)
      throws IOException, InterruptedException {
    String type = "application/x-protobuf" + (isV2 ? ";proto=io.prometheus.write.v2.Request" : "");
    HttpRequest request =
        HttpRequest.newBuilder(receiver.address(SENDER))
            .header("Content-Type", type)
            .POST(HttpRequest.BodyPublishers.ofByteArray(body))
            .build();
    return http.send(request, HttpResponse.BodyHandlers.ofString());
  }
}
