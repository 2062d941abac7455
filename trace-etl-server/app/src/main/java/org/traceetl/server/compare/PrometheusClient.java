package org.traceetl.server.compare;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.math.BigDecimal;
import java.net.ConnectException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.traceetl.common.Reason;
import org.traceetl.server.features.push.ClientTls;

/** Queries of one side. It follows no redirects, which could lead headers to another host. */
final class PrometheusClient implements AutoCloseable {
  private static final long MAX_BYTES = 1L << 30;
  private static final int OK = 200;

  private final Source source;
  private final Duration timeout;
  private final HttpClient client;
  private final AnswerReader reader;

  PrometheusClient(Source source, Path caFile, Duration timeout) {
    this(source, caFile, timeout, MAX_BYTES);
  }

  /**
   * @throws org.traceetl.common.ConfigException if the file of certificates cannot be used
   */
  PrometheusClient(Source source, Path caFile, Duration timeout, long maxBytes) {
    this.source = source;
    this.timeout = timeout;
    client =
        HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .connectTimeout(timeout)
            .sslContext(ClientTls.trusting(ClientTls.trusted("--ca-file", caFile)))
            .build();
    reader = new AnswerReader(maxBytes);
  }

  /**
   * Evaluates an expression at a time.
   *
   * @throws IOException if there is no valid answer in time; the message names the side
   */
  void query(String expression, Instant time, AnswerReader.Sink sink)
      throws IOException, InterruptedException {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(address(expression, time))
            .timeout(timeout)
            .header("Accept", "application/json")
            .header("User-Agent", "trace-etl");
    source.headers().forEach((name, value) -> request.setHeader(name, value.value()));
    CompletableFuture<Void> answer =
        client
            .sendAsync(request.build(), HttpResponse.BodyHandlers.ofInputStream())
            .thenAcceptAsync(response -> read(response, sink));
    try {
      // The request's own timeout ends with the header of the answer; this one includes the body.
      answer.get(timeout.toMillis(), TimeUnit.MILLISECONDS);
    } catch (ExecutionException e) {
      Throwable cause =
          e.getCause() instanceof UncheckedIOException io ? io.getCause() : e.getCause();
      throw failure(cause instanceof ConnectException ? "cannot connect" : Reason.of(cause), e);
    } catch (TimeoutException e) {
      client.shutdownNow();
      throw failure("no whole answer within " + timeout.toSeconds() + "s", e);
    }
  }

  private IOException failure(String what, Exception cause) {
    return new IOException(
        SeriesText.printable("--" + source.side() + " = " + source.url() + ": " + what), cause);
  }

  private URI address(String expression, Instant time) {
    String base = source.url().toString();
    return URI.create(
        base
            + (base.endsWith("/") ? "" : "/")
            + "api/v1/query?query="
            + URLEncoder.encode(expression, UTF_8)
            + "&time="
            + BigDecimal.valueOf(time.toEpochMilli(), 3).toPlainString());
  }

  private void read(HttpResponse<InputStream> response, AnswerReader.Sink sink) {
    try (InputStream body = response.body()) {
      if (response.statusCode() != OK) {
        throw new IOException("status " + response.statusCode() + problem(body));
      }
      reader.read(body, sink);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Returns the error that an answer reports; empty if it is none of Prometheus. */
  private String problem(InputStream body) {
    try {
      reader.read(body, (labels, samples) -> {});
      return "";
    } catch (IOException e) {
      return ": " + Reason.of(e);
    }
  }

  /** Returns the first warnings of the answers. */
  List<String> warnings() {
    return reader.warnings();
  }

  @Override
  public void close() {
    client.shutdownNow();
  }
}
