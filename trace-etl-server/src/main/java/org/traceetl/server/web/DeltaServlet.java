package org.traceetl.server.web;

import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.util.concurrent.TimeoutException;
import java.util.zip.GZIPOutputStream;
import org.apache.catalina.connector.ClientAbortException;
import org.traceetl.server.delta.Answer;
import org.traceetl.server.delta.DeltaPages;
import org.traceetl.server.delta.ScraperRefused;
import org.traceetl.server.expose.Format;

/**
 * {@code GET /metrics} in profile {@code ozhera}: what the scraper was not given yet, as Prometheus
 * text 0.0.4 whatever was asked for. An answer that could not be written to its end breaks its
 * connection off, so that the scraper takes it for failed, and its counts are in the next one.
 */
final class DeltaServlet extends HttpServlet {
  private static final long serialVersionUID = 1L;
  private static final int TOO_MANY_REQUESTS = 429;

  private final transient DeltaPages pages;

  DeltaServlet(DeltaPages pages) {
    this.pages = pages;
  }

  /** Gives nothing away: an answer without a body would. */
  @Override
  protected void doHead(HttpServletRequest request, HttpServletResponse response)
      throws IOException {
    response.setHeader("Allow", "GET");
    Problem.write(
        response, HttpServletResponse.SC_METHOD_NOT_ALLOWED, "HEAD: an answer is given by GET");
  }

  @Override
  protected void doGet(HttpServletRequest request, HttpServletResponse response)
      throws IOException {
    ScraperIdentity scraper;
    try {
      scraper = ScraperIdentity.of(request);
    } catch (IllegalArgumentException e) {
      Problem.write(response, HttpServletResponse.SC_BAD_REQUEST, e.getMessage());
      return;
    }
    Answer answer;
    try {
      answer = pages.take(scraper.name(), scraper.from(), scraper.lasting(), scraper.timeout());
    } catch (ScraperRefused e) {
      Problem.write(
          response,
          e.isBusy() ? TOO_MANY_REQUESTS : HttpServletResponse.SC_SERVICE_UNAVAILABLE,
          e.getMessage());
      return;
    } catch (TimeoutException | IllegalStateException e) {
      Problem.write(response, HttpServletResponse.SC_SERVICE_UNAVAILABLE, reason(e));
      return;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      Problem.write(response, HttpServletResponse.SC_SERVICE_UNAVAILABLE, "the server is ending");
      return;
    }
    boolean written = false;
    try {
      written = write(answer, Negotiation.gzip(request.getHeader("Accept-Encoding")), response);
    } catch (UncheckedIOException e) {
      throw brokenOff(e.getCause());
    } catch (IOException e) {
      throw brokenOff(e);
    } finally {
      pages.settle(answer, written);
    }
  }

  /**
   * Has the connection closed; who broke it off is in the pages' count, not in the server's log.
   */
  private static ClientAbortException brokenOff(IOException e) {
    return e instanceof ClientAbortException aborted ? aborted : new ClientAbortException(e);
  }

  private static String reason(Exception e) {
    return e.getMessage() == null ? "the server is behind; try again" : e.getMessage();
  }

  /** Whether all of it was written; false if an error was answered instead. */
  private boolean write(Answer answer, boolean gzip, HttpServletResponse response)
      throws IOException {
    response.setContentType(Format.TEXT.contentType());
    response.setHeader("Vary", "Accept-Encoding");
    response.setHeader("Cache-Control", "no-store");
    if (gzip) {
      response.setHeader("Content-Encoding", "gzip");
    }
    OutputStream out = response.getOutputStream();
    var held = new HeldBack(out);
    if (gzip) {
      try (var zipped = new FastGzip(held)) {
        answer.writeTo(zipped);
        zipped.finish();
      }
    } else {
      answer.writeTo(held);
    }
    if (!permitted(answer)) {
      if (held.hasPassed()) {
        throw new IOException(
            "an answer took too long, or lost its leases; it is part of the next");
      }
      response.reset();
      Problem.write(
          response,
          HttpServletResponse.SC_SERVICE_UNAVAILABLE,
          "the answer took too long, or another server may give the same; scrape again");
      return false;
    }
    if (!held.hasPassed()) {
      response.setContentLength(held.size());
    }
    held.end();
    out.close();
    return true;
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

  /** The fastest level, as all pages have. */
  private static final class FastGzip extends GZIPOutputStream {
    private static final int BUFFER_BYTES = 16 * 1024;

    FastGzip(OutputStream out) throws IOException {
      super(out, BUFFER_BYTES);
      def.setLevel(java.util.zip.Deflater.BEST_SPEED);
    }
  }
}
