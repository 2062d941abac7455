package org.traceetl.server;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.time.InstantSource;
import java.util.concurrent.TimeoutException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.traceetl.server.config.ServerConfig;
import org.traceetl.server.expose.Naming;
import org.traceetl.server.expose.SpanPages;
import org.traceetl.server.index.TraceIndex;
import org.traceetl.server.telemetry.ServerTelemetry;
import org.traceetl.server.web.Service;

/** All parts of one server, constructed and joined in the order in which spans flow. */
final class Pipeline implements Service {
  private static final Logger log = LoggerFactory.getLogger(Pipeline.class);

  private final ServerTelemetry telemetry;
  private final SpanPages pages;
  private final TraceIndex index;

  Pipeline(ServerConfig config, InstantSource clock) {
    telemetry = new ServerTelemetry(Version.text(), config.window().idle());
    Naming naming = new Naming(config.metrics(), config.series(), config.histogram());
    pages =
        new SpanPages(
            naming,
            System::nanoTime,
            telemetry.timer(
                    "trace_etl_page_render_seconds",
                    "Time to fold the windows that came and to render the pages anew.")
                ::recordNanos);
    try {
      index = TraceIndex.open(config.index());
    } catch (IOException e) {
      throw new UncheckedIOException("The trace index cannot be opened: " + e.getMessage(), e);
    }
  }

  @Override
  public SpanPages pages() {
    return pages;
  }

  @Override
  public ServerTelemetry telemetry() {
    return telemetry;
  }

  @Override
  public TraceIndex index() {
    return index;
  }

  @Override
  public boolean alive() {
    return pages.running();
  }

  @Override
  public void start() {
    pages.start();
  }

  @Override
  public void drain(Duration within) {
    try {
      pages.await(within);
    } catch (TimeoutException e) {
      log.warn("The last windows are not on the page after {}.", within);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  @Override
  public void close() {
    pages.close();
    index.close();
  }
}
