package org.traceetl.agent;

import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.function.DoubleSupplier;
import java.util.function.ToDoubleFunction;
import org.traceetl.agent.source.otlp.OtlpCounters;
import org.traceetl.agent.source.otlp.OtlpCounters.ConnectionRefusal;
import org.traceetl.agent.source.otlp.OtlpReceiver;
import org.traceetl.agent.telemetry.AgentMetrics;

/** Registers the OTLP receiver's counts as metrics. */
final class OtlpMetrics {
  private OtlpMetrics() {}

  static void register(OtlpReceiver otlp, AgentMetrics metrics) {
    OtlpCounters counters = otlp.counters();
    metrics.gauge(
        "otlp_certificate_end_timestamp_seconds",
        "Expiry of the OTLP ports' certificate as Unix time; 0 without TLS.",
        otlp.access()::certificateEndSeconds);
    metrics.gauge(
        "otlp_reading_bytes",
        "Bytes of incomplete requests; each piece counts as at least 1 KiB.",
        otlp::bytesBeingRead);
    metrics.gauge(
        "otlp_clients",
        "Sender addresses with a connection or with bytes in flight.",
        otlp::clients);
    metrics.counter(
        "otlp_handshakes_failed",
        "Connections that ended because the TLS handshake failed.",
        "",
        Map.of("", counters::handshakesFailed));
    metrics.counter(
        "otlp_attributes_left_out",
        "Attributes that were left out because they were too many, too deeply nested or too long.",
        "",
        Map.of("", counters::attributesLeftOut));
    metrics.counter(
        "otlp_requests_joined",
        "Requests identical to one in progress; they get its outcome and are not counted again.",
        "",
        Map.of("", counters::requestsJoined));
    metrics.counter(
        "otlp_requests_repeated",
        "Requests identical to one answered recently; they get its answer and are not counted"
            + " again.",
        "",
        Map.of("", counters::requestsRepeated));
    metrics.counter(
        "otlp_connections_refused",
        "Connections refused at a limit: of all connections or of one sender's.",
        "reason",
        byName(ConnectionRefusal.values(), counters::connectionsRefused));
    metrics.counter(
        "otlp_requests_refused",
        "Requests refused before they reached the pipeline, by reason.",
        "reason",
        byName(OtlpCounters.Refusal.values(), counters::requestsRefused));
  }

  private static <E extends Enum<E>> Map<String, DoubleSupplier> byName(
      E[] reasons, ToDoubleFunction<E> count) {
    Map<String, DoubleSupplier> counts = new LinkedHashMap<>();
    for (E reason : reasons) {
      counts.put(reason.name().toLowerCase(Locale.ROOT), () -> count.applyAsDouble(reason));
    }
    return counts;
  }
}
