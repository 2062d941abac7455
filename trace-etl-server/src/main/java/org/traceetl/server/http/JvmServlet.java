package org.traceetl.server.http;

import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import org.traceetl.server.expose.Encoding;
import org.traceetl.server.expose.Page;
import org.traceetl.server.telemetry.ServerTelemetry;

/**
 * {@code GET /jvm} in profile {@code ozhera}: the metrics of the JVM and the server's own,
 * cumulative.
 */
public final class JvmServlet extends HttpServlet {
  private static final long serialVersionUID = 1L;

  private final transient ServerTelemetry telemetry;

  public JvmServlet(ServerTelemetry telemetry) {
    this.telemetry = telemetry;
  }

  @Override
  protected void doGet(HttpServletRequest request, HttpServletResponse response)
      throws IOException {
    Encoding encoding =
        Negotiation.encoding(request.getHeader("Accept"), request.getHeader("Accept-Encoding"));
    send(Page.of(encoding, telemetry.families(encoding.format())), response);
  }

  /** Answers with a page. */
  public static void send(Page page, HttpServletResponse response) throws IOException {
    Encoding encoding = page.encoding();
    response.setContentType(encoding.format().contentType());
    response.setHeader("Vary", "Accept, Accept-Encoding");
    if (encoding.gzip()) {
      response.setHeader("Content-Encoding", "gzip");
    }
    response.setContentLengthLong(page.bytes());
    page.writeTo(response.getOutputStream());
  }
}
