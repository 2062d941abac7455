package org.traceetl.server.canary;

import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLContext;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Requests with a token. The timeout includes the whole answer, so the caller never hangs. */
final class HttpReader implements AutoCloseable {
  private static final JsonMapper JSON = new JsonMapper();
  private static final int OK = 200;

  private final BearerToken token;
  private final Duration timeout;
  private final HttpClient client;
  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();

  HttpReader(BearerToken token, Duration timeout, SSLContext tls) {
    this.token = token;
    this.timeout = timeout;
    client = HttpClient.newBuilder().connectTimeout(timeout).sslContext(tls).build();
  }

  /** Reads the body of an answer. */
  interface BodyReader<T> {
    T read(HttpResponse<InputStream> answer) throws IOException;
  }

  /** The answer has another status than 200. */
  static final class StatusException extends IOException {
    private static final long serialVersionUID = 1L;

    final int status;

    StatusException(int status) {
      super("HTTP status " + status);
      this.status = status;
    }
  }

  /** Returns a request of this address, with the token. */
  HttpRequest.Builder request(URI url) throws IOException {
    HttpRequest.Builder request = HttpRequest.newBuilder(url).timeout(timeout);
    String header = token.header();
    return header == null ? request : request.header("Authorization", header);
  }

  /**
   * Sends a request, and waits for the whole answer.
   *
   * @throws StatusException if the status is not 200
   */
  <T> T exchange(HttpRequest request, BodyReader<T> reader)
      throws IOException, InterruptedException {
    return result(inParallel(List.<Callable<T>>of(() -> send(request, reader))).getFirst());
  }

  /** Sends a request on this thread; only for {@link #inParallel}, which has the timeout. */
  <T> T send(HttpRequest request, BodyReader<T> reader) throws IOException, InterruptedException {
    HttpResponse<InputStream> answer =
        client.send(request, HttpResponse.BodyHandlers.ofInputStream());
    try (InputStream body = answer.body()) {
      if (answer.statusCode() != OK) {
        throw new StatusException(answer.statusCode());
      }
      return reader.read(answer);
    }
  }

  /** Runs the calls at the same time, up to the timeout. */
  <T> List<Future<T>> inParallel(List<Callable<T>> calls) throws InterruptedException {
    return threads.invokeAll(calls, timeout.toMillis(), TimeUnit.MILLISECONDS);
  }

  /** Returns the result of a call of {@link #inParallel}. */
  <T> T result(Future<T> call) throws IOException, InterruptedException {
    try {
      return call.get();
    } catch (CancellationException e) {
      throw new IOException("no complete answer within " + timeout.toMillis() + " ms", e);
    } catch (ExecutionException e) {
      throw e.getCause() instanceof IOException io ? io : new IOException(e.getCause());
    }
  }

  JsonNode json(URI url) throws IOException, InterruptedException {
    return exchange(
        request(url).build(),
        answer -> {
          try {
            return JSON.readTree(answer.body());
          } catch (JacksonException e) {
            throw new IOException("the answer is not JSON", e);
          }
        });
  }

  @Override
  public void close() {
    client.shutdownNow();
    threads.shutdownNow();
  }
}
