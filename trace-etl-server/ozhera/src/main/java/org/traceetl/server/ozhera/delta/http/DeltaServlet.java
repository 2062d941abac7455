package org.traceetl.server.ozhera.delta.http;

import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.util.concurrent.TimeoutException;
import java.util.zip.GZIPOutputStream;
import org.apache.catalina.connector.ClientAbortException;
import org.traceetl.server.expose.Format;
import org.traceetl.server.http.Negotiation;
import org.traceetl.server.http.ParameterRefused;
import org.traceetl.server.http.Problem;
import org.traceetl.server.ozhera.delta.Answer;
import org.traceetl.server.ozhera.delta.DeltaPages;
import org.traceetl.server.ozhera.delta.ScraperRefused;

/**
 * {@code GET /metrics} in profile {@code ozhera}: the windows that the scraper has not received,
 * always as Prometheus text 0.0.4. If an answer cannot be written to its end, the connection is
 * aborted, so that the scraper treats the scrape as failed; the next answer contains the counts. A
 * request without a name reads the newest windows and changes nothing. A scraper without a name is
 * refused, because its counts would be wrong without an error.
 */
final class DeltaServlet extends HttpServlet {
  private static final long serialVersionUID = 1L;
  private static final int TOO_MANY_REQUESTS = 429;
  private static final String NAMELESS =
      "a scraper must send its name, one of trace-etl.ozhera.scrapers, in parameter scraper"
          + " (in Prometheus params: {scraper: [NAME]})";

  private final transient DeltaPages pages;

  DeltaServlet(DeltaPages pages) {
    this.pages = pages;
  }

  /** Refuses HEAD: an answer without a body would lose its windows. */
  @Override
  protected void doHead(HttpServletRequest request, HttpServletResponse response)
      throws IOException {
    response.setHeader("Allow", "GET");
    Problem.write(response, HttpServletResponse.SC_METHOD_NOT_ALLOWED, "HEAD: use GET");
  }

  @Override
  protected void doGet(HttpServletRequest request, HttpServletResponse response)
      throws IOException {
    ScraperIdentity scraper;
    try {
      scraper = ScraperIdentity.of(request);
    } catch (ParameterRefused e) {
      Problem.write(response, HttpServletResponse.SC_BAD_REQUEST, e.getMessage());
      return;
    }
    if (scraper.name() == null && scraper.scrapes()) {
      Problem.write(response, HttpServletResponse.SC_FORBIDDEN, NAMELESS);
      return;
    }
    Answer answer;
    try {
      answer =
          scraper.name() == null
              ? pages.look(scraper.timeout())
              : pages.take(scraper.name(), scraper.from(), scraper.timeout());
    } catch (ScraperRefused e) {
      Problem.write(response, status(e.reason()), e.getMessage());
      return;
    } catch (TimeoutException | IllegalStateException e) {
      Problem.write(response, HttpServletResponse.SC_SERVICE_UNAVAILABLE, reason(e));
      return;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      Problem.write(response, HttpServletResponse.SC_SERVICE_UNAVAILABLE, "the server is stopping");
      return;
    }
    boolean gzip = Negotiation.gzip(request.getHeader("Accept-Encoding"));
    if (scraper.name() == null) {
      show(answer, gzip, response);
    } else {
      give(answer, gzip, response);
    }
  }

  private static int status(ScraperRefused.Reason reason) {
    return switch (reason) {
      case BUSY -> TOO_MANY_REQUESTS;
      case NOT_CONFIGURED -> HttpServletResponse.SC_FORBIDDEN;
      case POSITION_UNKNOWN -> HttpServletResponse.SC_SERVICE_UNAVAILABLE;
    };
  }

  private void give(Answer answer, boolean gzip, HttpServletResponse response)
      throws ClientAbortException {
    boolean written = false;
    try {
      written = write(answer, gzip, response);
    } catch (UncheckedIOException e) {
      throw brokenOff(e.getCause());
    } catch (IOException e) {
      throw brokenOff(e);
    } finally {
      pages.settle(answer, written);
    }
  }

  /** Writes an answer of {@link DeltaPages#look}, which needs no permission to end. */
  private static void show(Answer answer, boolean gzip, HttpServletResponse response)
      throws IOException {
    OutputStream out = begin(gzip, response);
    try {
      render(answer, gzip, out);
    } catch (UncheckedIOException e) {
      throw brokenOff(e.getCause());
    }
    out.close();
  }

  /**
   * Returns an exception that aborts the connection. The count of failed answers reports it, not
   * the server's log.
   */
  private static ClientAbortException brokenOff(IOException e) {
    return e instanceof ClientAbortException aborted ? aborted : new ClientAbortException(e);
  }

  private static String reason(Exception e) {
    return e.getMessage() == null ? "the server is overloaded; try again" : e.getMessage();
  }

  /** Returns whether the whole answer was written; false if an error was sent instead. */
  private boolean write(Answer answer, boolean gzip, HttpServletResponse response)
      throws IOException {
    OutputStream out = begin(gzip, response);
    var held = new DelayedTailOutputStream(out);
    render(answer, gzip, held);
    if (!permitted(answer)) {
      if (held.hasPassed()) {
        throw new IOException(
            "an answer took too long or lost its leases; the next answer contains it");
      }
      response.reset();
      Problem.write(
          response,
          HttpServletResponse.SC_SERVICE_UNAVAILABLE,
          "the answer took too long, or another server may deliver the same windows; scrape"
              + " again");
      return false;
    }
    if (!held.hasPassed()) {
      response.setContentLength(held.size());
    }
    held.end();
    out.close();
    return true;
  }

  private static OutputStream begin(boolean gzip, HttpServletResponse response) throws IOException {
    response.setContentType(Format.TEXT.contentType());
    response.setHeader("Vary", "Accept-Encoding");
    response.setHeader("Cache-Control", "no-store");
    if (gzip) {
      response.setHeader("Content-Encoding", "gzip");
    }
    return response.getOutputStream();
  }

  private static void render(Answer answer, boolean gzip, OutputStream out) throws IOException {
    if (gzip) {
      try (var zipped = new FastGzip(out)) {
        answer.writeTo(zipped);
        zipped.finish();
      }
    } else {
      answer.writeTo(out);
    }
  }

  private boolean permitted(Answer answer) {
    try {
      return pages.commit(answer);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    } catch (IllegalStateException e) {
      return false;
    }
  }

  /** The fastest level, as for all pages. */
  private static final class FastGzip extends GZIPOutputStream {
    private static final int BUFFER_BYTES = 16 * 1024;

    FastGzip(OutputStream out) throws IOException {
      super(out, BUFFER_BYTES);
      def.setLevel(java.util.zip.Deflater.BEST_SPEED);
    }
  }
}
