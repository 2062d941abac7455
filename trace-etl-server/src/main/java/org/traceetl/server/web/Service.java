package org.traceetl.server.web;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Map;
import org.traceetl.proto.LearntNames;
import org.traceetl.server.delta.DeltaPages;
import org.traceetl.server.expose.SpanPages;
import org.traceetl.server.features.discovery.Fleet;
import org.traceetl.server.features.history.History;
import org.traceetl.server.features.hotspot.Hotspots;
import org.traceetl.server.features.index.TraceIndex;
import org.traceetl.server.queues.KnownQueues;
import org.traceetl.server.telemetry.ServerTelemetry;

/**
 * What the port serves: the pipeline, started after the port is open and drained before it closes.
 */
public interface Service extends AutoCloseable {
  /** Null where there are {@link #deltas}. */
  SpanPages pages();

  /** Null but in profile {@code ozhera} with deltas. */
  DeltaPages deltas();

  ServerTelemetry telemetry();

  TraceIndex index();

  /** Null where it is disabled. */
  History history();

  /** As of the last look; null where hotspots are disabled. */
  Hotspots hotspots();

  /** What is known of the fleet's queues. Never waits. */
  KnownQueues queues();

  /** As of the last look; empty where none are learnt. */
  LearntNames learntNames();

  /** Whether it does its work; false only for what a restart would mend. Never waits. */
  boolean alive();

  /**
   * Which queues it does not read although they are its own, or which parts of it do not work, and
   * why. Never waits.
   */
  Map<String, String> missing();

  /** Whether nothing is missing that this server could do something about. Never waits. */
  default boolean ready() {
    return missing().isEmpty();
  }

  /** Where this server and the others of its fleet are. */
  Fleet fleet();

  /**
   * Begins its work. Once.
   *
   * @param open the port; its address is the wildcard where it is open on all of them
   * @param tls whether it speaks TLS
   */
  void start(InetSocketAddress open, boolean tls);

  /** Ends intake; what was read is sealed and kept, and its queues are released. Idempotent. */
  void drain(Duration within);

  /** Releases everything, drained or not. Idempotent. */
  @Override
  void close();
}
