package org.traceetl.server.features.pages;

import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.traceetl.server.expose.Encoding;
import org.traceetl.server.expose.Page;
import org.traceetl.server.http.Access;
import org.traceetl.server.http.ByApplication;
import org.traceetl.server.http.Negotiation;
import org.traceetl.server.http.ParameterRefused;
import org.traceetl.server.http.Problem;

/**
 * {@code GET /metrics}: the families of spans and edges, then the server's own metrics; with {@code
 * shard=i/n} a shard of it. Never a 200 without a page. Senders who may not see all applications
 * receive the series of theirs, in text or OpenMetrics.
 */
final class MetricsServlet extends HttpServlet implements ByApplication {
  private static final long serialVersionUID = 1L;
  private static final int MAX_UNSENT = 4;
  private static final String STOPPING = "the server is stopping";

  private final transient PagesFeature pages;

  /** One page at a time is read line by line, on a processor that counting spans needs too. */
  private final transient Semaphore filtering = new Semaphore(1, true);

  /** Pages that were made for a request alone stay in memory until its client has read them. */
  private final transient Semaphore unsent = new Semaphore(MAX_UNSENT, true);

  MetricsServlet(PagesFeature pages) {
    this.pages = pages;
  }

  @Override
  protected void doGet(HttpServletRequest request, HttpServletResponse response)
      throws IOException {
    Access access = Access.of(request);
    if (access.isToAll()) {
      answer(request, response, access);
      return;
    }
    response.setHeader("Cache-Control", "no-store");
    try {
      if (!unsent.tryAcquire(PagesFeature.MAX_WAIT.toNanos(), TimeUnit.NANOSECONDS)) {
        unavailable(response, "too many scrapers with some applications have unread pages");
        return;
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      unavailable(response, STOPPING);
      return;
    }
    try {
      answer(request, response, access);
    } finally {
      unsent.release();
    }
  }

  private void answer(HttpServletRequest request, HttpServletResponse response, Access access)
      throws IOException {
    String accept = request.getHeader("Accept");
    Encoding encoding =
        Negotiation.encoding(
            access.isToAll() ? accept : Negotiation.withoutProtobuf(accept),
            request.getHeader("Accept-Encoding"),
            pages.pages().hasUtf8Names());
    Page page;
    try {
      Shard shard = Shard.ofRequest(request.getParameterValues(Shard.PARAMETER));
      page = access.isToAll() ? pages.page(encoding, shard) : visible(encoding, shard, access);
    } catch (ParameterRefused e) {
      Problem.write(response, HttpServletResponse.SC_BAD_REQUEST, e.getMessage());
      return;
    } catch (TimeoutException | IllegalStateException e) {
      unavailable(response, e.getMessage());
      return;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      unavailable(response, STOPPING);
      return;
    }
    Negotiation.send(page, response);
  }

  private static void unavailable(HttpServletResponse response, String why) throws IOException {
    Problem.write(response, HttpServletResponse.SC_SERVICE_UNAVAILABLE, why);
  }

  private Page visible(Encoding encoding, Shard shard, Access access)
      throws TimeoutException, InterruptedException {
    if (!filtering.tryAcquire(PagesFeature.MAX_WAIT.toNanos(), TimeUnit.NANOSECONDS)) {
      throw new TimeoutException("too many scrapers with some applications are waiting");
    }
    try {
      return pages.visible(encoding, shard, access);
    } finally {
      filtering.release();
    }
  }
}
