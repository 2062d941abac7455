package org.traceetl.server.ozhera.delta.http;

import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import org.traceetl.server.expose.Encoding;
import org.traceetl.server.expose.Page;
import org.traceetl.server.http.Negotiation;
import org.traceetl.server.telemetry.ServerTelemetry;

/**
 * {@code GET /jvm} in profile {@code ozhera}: the metrics of the JVM and of the server, cumulative.
 */
final class JvmServlet extends HttpServlet {
  private static final long serialVersionUID = 1L;

  private final transient ServerTelemetry telemetry;

  JvmServlet(ServerTelemetry telemetry) {
    this.telemetry = telemetry;
  }

  @Override
  protected void doGet(HttpServletRequest request, HttpServletResponse response)
      throws IOException {
    Encoding encoding =
        Negotiation.encoding(request.getHeader("Accept"), request.getHeader("Accept-Encoding"));
    Negotiation.send(Page.of(encoding, telemetry.families(encoding.format())), response);
  }
}
