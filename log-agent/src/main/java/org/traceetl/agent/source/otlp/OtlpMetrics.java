package org.traceetl.agent.source.otlp;

import java.util.Map;
import java.util.concurrent.atomic.LongAdder;
import org.traceetl.agent.telemetry.MetricSet;

/** Metrics of the receiver: what it left out or refused before the pipeline. */
public final class OtlpMetrics extends MetricSet {
  /** Why a request was refused. */
  enum Refusal {
    /** Larger than allowed, compressed or not. */
    TOO_LARGE,
    /** A path, method, content type or encoding that is not served. */
    UNSUPPORTED,
    /** HTTP that cannot be parsed, or a body that is not the gzip it claims to be. */
    MALFORMED,
    /** Not complete within the timeout. */
    TIMEOUT,
    /** The bytes being read, over all connections, were at the limit. */
    NO_ROOM,
    /** The sender's bytes in flight were at the limit. */
    CLIENT_FULL,
    /** The request had no token, or an unknown one. */
    UNAUTHENTICATED
  }

  /** Why a connection was refused. */
  enum ConnectionRefusal {
    /** The limit of all connections was reached. */
    ALL,
    /** The limit of connections of one sender was reached. */
    CLIENT
  }

  final LongAdder attributesLeftOut =
      adder(
          "otlp_attributes_left_out",
          "Attributes that were left out because they were too many, too deeply nested or too"
              + " long.");
  final LongAdder requestsJoined =
      adder(
          "otlp_requests_joined",
          "Requests identical to one in progress; they get its outcome and are not counted again.");
  final LongAdder requestsRepeated =
      adder(
          "otlp_requests_repeated",
          "Requests identical to one answered recently; they get its answer and are not counted"
              + " again.");
  final LongAdder handshakesFailed =
      adder("otlp_handshakes_failed", "Connections that ended because the TLS handshake failed.");
  private final Map<ConnectionRefusal, LongAdder> connectionsRefused =
      adders(
          ConnectionRefusal.class,
          "otlp_connections_refused",
          "Connections refused at a limit: of all connections or of one sender's.");
  private final Map<Refusal, LongAdder> requestsRefused =
      adders(
          Refusal.class,
          "otlp_requests_refused",
          "Requests refused before they reached the pipeline, by reason.");

  void connectionRefused(ConnectionRefusal reason) {
    connectionsRefused.get(reason).increment();
  }

  void requestRefused(Refusal reason) {
    requestsRefused.get(reason).increment();
  }

  long connectionsRefused(ConnectionRefusal reason) {
    return connectionsRefused.get(reason).sum();
  }

  long requestsRefused(Refusal reason) {
    return requestsRefused.get(reason).sum();
  }
}
