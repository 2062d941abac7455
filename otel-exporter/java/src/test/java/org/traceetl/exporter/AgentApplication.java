package org.traceetl.exporter;

import com.sun.net.httpserver.HttpServer;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.URLConnection;

/**
 * Knows nothing of OpenTelemetry: its Java agent makes a server's and a client's span of each of
 * the requests that this sends to itself. The argument is their number.
 */
final class AgentApplication {
  private AgentApplication() {}

  public static void main(String[] arguments) throws Exception {
    HttpServer server =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.createContext(
        "/cart",
        exchange -> {
          exchange.sendResponseHeaders(204, -1);
          exchange.close();
        });
    server.start();
    URI uri = new URI("http://127.0.0.1:" + server.getAddress().getPort() + "/cart");
    for (int i = Integer.parseInt(arguments[0]); i > 0; i--) {
      URLConnection connection = uri.toURL().openConnection();
      try (InputStream body = connection.getInputStream()) {
        body.readAllBytes();
      }
    }
    server.stop(1);
  }
}
