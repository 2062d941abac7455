package org.traceetl.server.canary;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpRequest;
import org.traceetl.common.Reason;

/** Sends by OTLP/HTTP. */
final class HttpSender implements SpanSender {
  private static final int MAX_ANSWER_BYTES = 64 * 1024;
  private static final int BAD_REQUEST = 400;
  private static final int TIMEOUT = 408;
  private static final int FAILED = 500;

  private final HttpReader http;
  private final URI url;

  /**
   * @param http closed with this
   * @param url of the agent; without a path, {@code /v1/traces} is added
   */
  HttpSender(HttpReader http, URI url) {
    this.http = http;
    this.url = url.getPath().length() > 1 ? url : url.resolve("/v1/traces");
  }

  @Override
  public Answer send(Probe probe) throws InterruptedException {
    try {
      HttpRequest request =
          http.request(url)
              .header("Content-Type", "application/x-protobuf")
              .POST(HttpRequest.BodyPublishers.ofByteArray(probe.body()))
              .build();
      return Answer.accepted(
          http.exchange(request, answer -> answer.body().readNBytes(MAX_ANSWER_BYTES)));
    } catch (HttpReader.StatusException e) {
      boolean isRefused = e.status >= BAD_REQUEST && e.status < FAILED && e.status != TIMEOUT;
      return Answer.failed(isRefused ? Outcome.REFUSED : Outcome.UNKNOWN, e.getMessage());
    } catch (IOException e) {
      return Answer.failed(
          SpanSender.isNotConnected(e) ? Outcome.REFUSED : Outcome.UNKNOWN, Reason.of(e));
    }
  }

  @Override
  public void close() {
    http.close();
  }
}
