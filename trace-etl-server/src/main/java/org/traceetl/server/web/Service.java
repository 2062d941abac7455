package org.traceetl.server.web;

import java.time.Duration;
import org.traceetl.server.expose.SpanPages;
import org.traceetl.server.history.History;
import org.traceetl.server.index.TraceIndex;
import org.traceetl.server.telemetry.ServerTelemetry;

/**
 * What the port serves: the pipeline, started after the port is open and drained before it closes.
 */
public interface Service extends AutoCloseable {
  SpanPages pages();

  ServerTelemetry telemetry();

  TraceIndex index();

  /** Null where it is disabled. */
  History history();

  /** Whether it does its work; false only for what a restart would mend. Never waits. */
  boolean alive();

  void start();

  /** Ends intake; what was read is sealed, kept and shown. Idempotent. */
  void drain(Duration within);

  /** Releases everything, drained or not. Idempotent. */
  @Override
  void close();
}
