package org.traceetl.agent.forward;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.InstantSource;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import org.traceetl.agent.access.TlsFiles;
import org.traceetl.agent.config.ForwardConfig.Compression;
import org.traceetl.agent.config.ForwardConfig.Endpoint;
import org.traceetl.agent.flow.OtlpFormat;

/** Sends requests over HTTP/1.1. Redirects are not followed. */
final class HttpTraceClient implements TraceClient {
  /** A wrong {@code Retry-After} must not stop an endpoint for long. */
  private static final long MAX_RETRY_AFTER_MILLIS = TimeUnit.MINUTES.toMillis(5);

  private static final int MAX_CONNECT_MILLIS = 10_000;
  private static final int OK = 200;

  private final Endpoint endpoint;
  private final InstantSource wall;
  private final HttpClient client;

  /**
   * @throws IOException if the root certificates cannot be read
   */
  HttpTraceClient(Endpoint endpoint, InstantSource wall) throws IOException {
    this.endpoint = endpoint;
    this.wall = wall;
    HttpClient.Builder builder =
        HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .followRedirects(HttpClient.Redirect.NEVER)
            .connectTimeout(
                Duration.ofMillis(Math.min(endpoint.timeoutMillis(), MAX_CONNECT_MILLIS)));
    if (endpoint.caFile().isPresent()) {
      builder.sslContext(TlsFiles.trusting(endpoint.caFile().get()));
    }
    client = builder.build();
  }

  @Override
  public CompletableFuture<Answer> send(OtlpFormat format, Blocks body) throws IOException {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(endpoint.url())
            .timeout(Duration.ofMillis(endpoint.timeoutMillis()))
            .header("Content-Type", format.mediaType())
            .header("User-Agent", "trace-etl-agent")
            .POST(
                // With a length, because some proxies refuse chunks.
                BodyPublishers.fromPublisher(
                    BodyPublishers.ofByteArrays(body.list()), body.length()));
    if (endpoint.compression() == Compression.GZIP) {
      request.header("Content-Encoding", "gzip");
    }
    endpoint.readHeaders().forEach(request::setHeader);
    AnswerBody text = new AnswerBody();
    CompletableFuture<HttpResponse<Void>> exchange =
        client.sendAsync(request.build(), HttpResponse.BodyHandlers.ofByteArrayConsumer(text));
    // The client's own timeout ends with the head of the answer; this one includes the body.
    return exchange
        .copy()
        .orTimeout(2L * endpoint.timeoutMillis(), TimeUnit.MILLISECONDS)
        .whenComplete((answer, failure) -> {
          if (failure instanceof TimeoutException) {
            exchange.cancel(true);
          }
        })
        .thenApply(answer -> answer(answer, text));
  }

  private Answer answer(HttpResponse<Void> answer, AnswerBody body) {
    boolean isJson =
        answer
            .headers()
            .firstValue("Content-Type")
            .orElse("")
            .contains(OtlpFormat.JSON.mediaType());
    return new Answer(
        answer.statusCode(),
        retryAfterMillis(answer.headers().firstValue("Retry-After").orElse("").strip()),
        answer.statusCode() == OK ? PartialSuccess.rejectedSpans(body.bytes(), isJson) : 0,
        body.printable());
  }

  private long retryAfterMillis(String value) {
    long millis = 0;
    try {
      if (value.matches("\\d{1,9}")) {
        millis = TimeUnit.SECONDS.toMillis(Long.parseLong(value));
      } else if (!value.isEmpty()) {
        millis =
            ZonedDateTime.parse(value, DateTimeFormatter.RFC_1123_DATE_TIME)
                    .toInstant()
                    .toEpochMilli()
                - wall.millis();
      }
    } catch (DateTimeException e) {
      // As without the header.
      return 0;
    }
    return Math.clamp(millis, 0, MAX_RETRY_AFTER_MILLIS);
  }

  @Override
  public void close() {
    client.shutdownNow();
  }

  /** The begin of a body. For one thread at a time. */
  private static final class AnswerBody implements Consumer<Optional<byte[]>> {
    private static final int MAX_BYTES = 4_096;
    private static final int MAX_SHOWN = 200;

    private final ByteArrayOutputStream kept = new ByteArrayOutputStream();

    @Override
    public void accept(Optional<byte[]> chunk) {
      if (chunk.isPresent()) {
        kept.write(chunk.get(), 0, Math.min(MAX_BYTES - kept.size(), chunk.get().length));
      }
    }

    byte[] bytes() {
      return kept.toByteArray();
    }

    /** Returns the printable characters, because anyone may have written the answer. */
    String printable() {
      String text = kept.toString(UTF_8).replaceAll("[^\\x20-\\x7e]+", " ").strip();
      return text.substring(0, Math.min(text.length(), MAX_SHOWN));
    }
  }
}
