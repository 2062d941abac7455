package org.traceetl.perf.bench.load;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.security.GeneralSecurityException;
import java.util.function.Consumer;
import org.traceetl.testkit.OwnCertificate;

/** Sends OTLP over HTTP/1.1 as protobuf, on one connection for each request under way. */
public final class HttpSender implements OtlpSender {
  private final HttpClient client;
  private final URI uri;

  public HttpSender(int port) {
    client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    uri = URI.create("http://127.0.0.1:" + port + "/v1/traces");
  }

  /** Creates a sender with TLS that trusts the certificate. */
  public HttpSender(int port, OwnCertificate trusted) throws GeneralSecurityException, IOException {
    client =
        HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .sslContext(trusted.trusting())
            .build();
    uri = URI.create("https://127.0.0.1:" + port + "/v1/traces");
  }

  @Override
  public void send(byte[] request, Consumer<String> answered) {
    client
        .sendAsync(
            HttpRequest.newBuilder(uri)
                .header("Content-Type", "application/x-protobuf")
                .POST(HttpRequest.BodyPublishers.ofByteArray(request))
                .build(),
            HttpResponse.BodyHandlers.discarding())
        .whenComplete((response, failure) ->
            answered.accept(
                failure != null
                    ? failure.toString()
                    : response.statusCode() == 200 ? null : "status " + response.statusCode()));
  }

  @Override
  public void close() {
    client.shutdownNow();
  }
}
