package org.traceetl.server.features.pages;

import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.TimeoutException;
import java.util.function.LongSupplier;
import org.traceetl.server.expose.Encoding;
import org.traceetl.server.expose.Page;
import org.traceetl.server.http.Negotiation;
import org.traceetl.server.http.Problem;
import org.traceetl.server.telemetry.ServerTelemetry;

/**
 * {@code GET /metrics}: the span families, then the server's own metrics. Never a 200 without a
 * page.
 */
final class MetricsServlet extends HttpServlet {
  private static final long serialVersionUID = 1L;

  /** Prometheus gives up after 10 s by default. */
  private static final Duration MAX_WAIT = Duration.ofSeconds(9);

  private final transient SpanPages pages;
  private final transient ServerTelemetry telemetry;
  private final transient LongSupplier nanoClock;

  MetricsServlet(SpanPages pages, ServerTelemetry telemetry, LongSupplier nanoClock) {
    this.pages = pages;
    this.telemetry = telemetry;
    this.nanoClock = nanoClock;
  }

  @Override
  protected void doGet(HttpServletRequest request, HttpServletResponse response)
      throws IOException {
    Encoding encoding =
        Negotiation.encoding(request.getHeader("Accept"), request.getHeader("Accept-Encoding"));
    Page page;
    try {
      page = page(encoding);
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

  /** Returns a page that may still be shown after the slow steps. */
  private Page page(Encoding encoding) throws TimeoutException, InterruptedException {
    long deadlineNanos = nanoClock.getAsLong() + MAX_WAIT.toNanos();
    Page page;
    do {
      Duration left = Duration.ofNanos(deadlineNanos - nanoClock.getAsLong());
      page = pages.page(encoding, left).with(telemetry.families(encoding.format()));
    } while (!page.current());
    return page;
  }
}
