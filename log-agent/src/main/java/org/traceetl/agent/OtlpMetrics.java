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

/** Makes metrics of what the OTLP receiver counts. */
final class OtlpMetrics {
  private OtlpMetrics() {}

  static void register(OtlpReceiver otlp, AgentMetrics metrics) {
    OtlpCounters counters = otlp.counters();
    metrics.gauge(
        "otlp_certificate_end_timestamp_seconds",
        "When the certificate of the OTLP ports ends; 0 without TLS.",
        otlp.access()::certificateEndSeconds);
    metrics.gauge(
        "otlp_reading_bytes",
        "Bytes of requests that are not read whole; each piece counts for 1 KiB at least.",
        otlp::bytesBeingRead);
    metrics.gauge(
        "otlp_clients",
        "Addresses of senders that have a connection or bytes in flight.",
        otlp::clients);
    metrics.counter(
        "otlp_handshakes_failed",
        "Connections that ended because no TLS was agreed on.",
        "",
        Map.of("", counters::handshakesFailed));
    metrics.counter(
        "otlp_attributes_left_out",
        "Attributes left out because there were too many, or they were too deep or too long.",
        "",
        Map.of("", counters::attributesLeftOut));
    metrics.counter(
        "otlp_requests_joined",
        "Requests equal to one under way, which share its outcome instead of counting again.",
        "",
        Map.of("", counters::requestsJoined));
    metrics.counter(
        "otlp_requests_repeated",
        "Requests equal to one answered of late, which got the same answer instead of counting"
            + " again.",
        "",
        Map.of("", counters::requestsRepeated));
    metrics.counter(
        "otlp_connections_refused",
        "Connections closed at once because the most allowed were open, in all or of their sender.",
        "reason",
        byName(ConnectionRefusal.values(), counters::connectionsRefused));
    metrics.counter(
        "otlp_requests_refused",
        "Requests turned away before the pipeline was asked, by reason.",
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
