package org.traceetl.standalone;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;

/**
 * A service that sends each request on to the next service, and answers with its status. The
 * arguments are its port and the URL of the next service. It has no code for tracing.
 */
final class RelayProgram {
  private final HttpClient http =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
  private final URI next;

  private RelayProgram(URI next) {
    this.next = next;
  }

  public static void main(String... arguments) throws IOException {
    int port = Integer.parseInt(arguments[0]);
    RelayProgram relay = new RelayProgram(URI.create(arguments[1]));
    HttpServer server =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 0);
    server.createContext("/", relay::answer);
    server.start();
  }

  private void answer(HttpExchange exchange) throws IOException {
    try (exchange) {
      HttpRequest request = HttpRequest.newBuilder(next.resolve(exchange.getRequestURI())).build();
      exchange.sendResponseHeaders(
          http.send(request, HttpResponse.BodyHandlers.discarding()).statusCode(), -1);
    } catch (InterruptedException e) {
      throw new InterruptedIOException();
    }
  }
}
