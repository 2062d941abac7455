package org.traceetl.server.features.push;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.google.common.primitives.Ints;
import com.google.common.primitives.Longs;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.InstantSource;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import org.traceetl.common.Clocks;

/** Requests by HTTP/1.1. */
final class HttpTransport implements WriteTransport {
  private static final Duration MAX_CONNECT = Duration.ofSeconds(10);
  private static final int MAX_TEXT_BYTES = 2_048;
  private static final int UNAUTHORIZED = 401;
  private static final int CODES_OF_A_CLASS = 100;
  private static final int SUCCESS = 2;

  private static final String WRITTEN = "X-Prometheus-Remote-Write-%s-Written";

  private final PushConfig.Endpoint config;
  private final InstantSource clock;
  private final HttpClient client;
  private final Authorization authorization;

  /**
   * @throws org.traceetl.common.ConfigException if a certificate cannot be read
   */
  HttpTransport(PushConfig.Endpoint config, Clocks clocks) {
    this.config = config;
    clock = clocks.wall();
    client = client(config);
    authorization = Authorization.of(config, client, clocks);
  }

  /** Returns a client of an endpoint, for requests and for tokens. */
  static HttpClient client(PushConfig.Endpoint config) {
    Duration connect = config.timeout().compareTo(MAX_CONNECT) < 0 ? config.timeout() : MAX_CONNECT;
    return HttpClient.newBuilder()
        .version(HttpClient.Version.HTTP_1_1)
        .connectTimeout(connect)
        .sslContext(ClientTls.context(config.tls()))
        .build();
  }

  @Override
  public Answer send(Protocol protocol, byte[] body, int length)
      throws IOException, InterruptedException {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(config.url())
            .timeout(config.timeout())
            .header("Content-Encoding", protocol.contentEncoding)
            .header("Content-Type", protocol.contentType)
            .header("User-Agent", "trace-etl")
            .POST(HttpRequest.BodyPublishers.ofByteArray(body, 0, length));
    if (protocol.header != null) {
      request.header("X-Prometheus-Remote-Write-Version", protocol.header);
    }
    config.headers().forEach((name, value) -> request.setHeader(name, value.value()));
    String header = authorization.header();
    if (header != null) {
      request.setHeader("Authorization", header);
    }
    AnswerText text = new AnswerText();
    HttpResponse<Void> answer = send(request.build(), text);
    if (answer.statusCode() == UNAUTHORIZED) {
      authorization.refused();
    }
    if (protocol == Protocol.OTLP) {
      return ofOtlp(answer, text);
    }
    return new Answer(
        answer.statusCode(),
        written(answer, "Samples"),
        written(answer, "Histograms"),
        retryAfterMillis(answer),
        text.toString());
  }

  /** The client's own timeout ends with the header of the answer; this one includes the body. */
  private HttpResponse<Void> send(HttpRequest request, AnswerText text)
      throws IOException, InterruptedException {
    CompletableFuture<HttpResponse<Void>> answer =
        client.sendAsync(request, HttpResponse.BodyHandlers.ofByteArrayConsumer(text));
    try {
      return answer.get(2 * config.timeout().toMillis(), TimeUnit.MILLISECONDS);
    } catch (ExecutionException e) {
      throw e.getCause() instanceof IOException failure ? failure : new IOException(e.getCause());
    } catch (TimeoutException e) {
      throw new IOException("the answer did not end in time", e);
    } finally {
      answer.cancel(true);
    }
  }

  private Answer ofOtlp(HttpResponse<Void> answer, AnswerText text) {
    boolean isSuccess = answer.statusCode() / CODES_OF_A_CLASS == SUCCESS;
    OtlpAnswer said =
        isSuccess ? OtlpAnswer.read(text.bytes()) : new OtlpAnswer(0, text.toString());
    return new Answer(
        answer.statusCode(),
        UNKNOWN,
        UNKNOWN,
        said.rejected(),
        retryAfterMillis(answer),
        said.message());
  }

  /** The begin of a body. For one thread at a time. */
  private static final class AnswerText implements Consumer<Optional<byte[]>> {
    private final ByteArrayOutputStream kept = new ByteArrayOutputStream();

    @Override
    public void accept(Optional<byte[]> chunk) {
      if (chunk.isPresent()) {
        int room = MAX_TEXT_BYTES - kept.size();
        kept.write(chunk.get(), 0, Math.min(room, chunk.get().length));
      }
    }

    byte[] bytes() {
      return kept.toByteArray();
    }

    @Override
    public String toString() {
      return kept.toString(UTF_8).strip();
    }
  }

  private static int written(HttpResponse<Void> answer, String what) {
    String value = answer.headers().firstValue(WRITTEN.formatted(what)).orElse("");
    Integer count = Ints.tryParse(value.strip());
    return count == null || count < 0 ? UNKNOWN : count;
  }

  private long retryAfterMillis(HttpResponse<Void> answer) {
    String value = answer.headers().firstValue("Retry-After").orElse("").strip();
    Long seconds = Longs.tryParse(value);
    long millis = 0;
    if (seconds != null) {
      millis = TimeUnit.SECONDS.toMillis(seconds);
    } else if (!value.isEmpty()) {
      try {
        ZonedDateTime until = ZonedDateTime.parse(value, DateTimeFormatter.RFC_1123_DATE_TIME);
        millis = until.toInstant().toEpochMilli() - clock.millis();
      } catch (DateTimeException e) {
        // As without the header.
        return 0;
      }
    }
    return Math.clamp(millis, 0, RetryInfo.MAX_DELAY.toMillis());
  }

  @Override
  public void close() {
    client.shutdownNow();
  }
}
