package org.traceetl.server.features.pages;

import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.concurrent.TimeoutException;
import org.traceetl.server.expose.Encoding;
import org.traceetl.server.expose.Page;
import org.traceetl.server.http.Negotiation;
import org.traceetl.server.http.ParameterRefused;
import org.traceetl.server.http.Problem;

/**
 * {@code GET /metrics}: the families of spans and edges, then the server's own metrics; with {@code
 * shard=i/n} a shard of it. Never a 200 without a page.
 */
final class MetricsServlet extends HttpServlet {
  private static final long serialVersionUID = 1L;

  private final transient PagesFeature pages;

  MetricsServlet(PagesFeature pages) {
    this.pages = pages;
  }

  @Override
  protected void doGet(HttpServletRequest request, HttpServletResponse response)
      throws IOException {
    Encoding encoding =
        Negotiation.encoding(
            request.getHeader("Accept"),
            request.getHeader("Accept-Encoding"),
            pages.pages().hasUtf8Names());
    Page page;
    try {
      page = pages.page(encoding, Shard.ofRequest(request.getParameterValues(Shard.PARAMETER)));
    } catch (ParameterRefused e) {
      Problem.write(response, HttpServletResponse.SC_BAD_REQUEST, e.getMessage());
      return;
    } catch (TimeoutException | IllegalStateException e) {
      Problem.write(response, HttpServletResponse.SC_SERVICE_UNAVAILABLE, e.getMessage());
      return;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      Problem.write(response, HttpServletResponse.SC_SERVICE_UNAVAILABLE, "the server is stopping");
      return;
    }
    Negotiation.send(page, response);
  }
}
