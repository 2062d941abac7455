package org.traceetl.standalone;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.sdk.common.CompletableResultCode;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.opentelemetry.sdk.trace.export.SpanExporter;
import io.opentelemetry.semconv.ServiceAttributes;
import java.time.InstantSource;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests that each incident shows most in the service of its cause, and that the cause explains it.
 */
final class IncidentTest {
  private static final int REQUESTS = 4_000;
  private static final int SPANS_PER_SECOND = 100_000;
  private static final long SLOW_NANOS = 1_000_000_000;

  @ParameterizedTest
  @CsvSource({
    "BAD_HOST, cart, host.name, shop-host-3",
    "BAD_VERSION, checkout, service.version, 1.1.0",
    "SLOW_QUERY, catalogue, db.query.text, SELECT * FROM products WHERE lower(name) = $1",
    "ONE_CUSTOMER, payment, customer.id, acme",
  })
  void struckSpansHaveTheCauseAndOthersRarely(
      Incident incident, String service, String key, String value) {
    List<SpanData> spans = spans(incident);
    assertThat(worst(incident, spans)).isEqualTo(service);
    List<SpanData> ofService = of(service, spans);
    Predicate<SpanData> hasCause = span -> value.equals(attribute(span, key));
    assertThat(share(selected(incident, ofService, true), hasCause))
        .isGreaterThan(0.4)
        .isGreaterThan(2 * share(selected(incident, ofService, false), hasCause));
  }

  @ParameterizedTest
  @ValueSource(strings = "RETRY_STORM")
  void mostFailedCallsAreRepeatedOnes(Incident incident) {
    List<SpanData> spans = spans(incident);
    assertThat(worst(incident, spans)).isEqualTo("payment");
    List<SpanData> ofService = of("payment", spans);
    Predicate<SpanData> isRepeated =
        span -> span.getAttributes().get(AttributeKey.longKey("http.request.resend_count")) != null;
    assertThat(share(selected(incident, ofService, true), isRepeated)).isGreaterThan(0.6);
    assertThat(share(selected(incident, ofService, false), isRepeated)).isLessThan(0.1);
  }

  @ParameterizedTest
  @ValueSource(strings = {"0", "6", "", "bad host", "BAD_HOST"})
  void unknownIncidentIsRefused(String text) {
    assertThatThrownBy(() -> Incident.of(text))
        .hasMessage(
            "'"
                + text
                + "' is no incident; allowed: 1 bad-host, 2 bad-version, 3 slow-query,"
                + " 4 one-customer, 5 retry-storm");
  }

  @ParameterizedTest
  @CsvSource({"1, BAD_HOST", "5, RETRY_STORM", "slow-query, SLOW_QUERY"})
  void incidentsHaveNumbersAndNames(String text, Incident incident) {
    assertThat(Incident.of(text)).isEqualTo(incident);
  }

  private static List<SpanData> spans(Incident incident) {
    Queue<SpanData> sent = new ConcurrentLinkedQueue<>();
    SpanExporter exporter =
        new SpanExporter() {
          @Override
          public CompletableResultCode export(Collection<SpanData> spans) {
            sent.addAll(spans);
            return CompletableResultCode.ofSuccess();
          }

          @Override
          public CompletableResultCode flush() {
            return CompletableResultCode.ofSuccess();
          }

          @Override
          public CompletableResultCode shutdown() {
            return CompletableResultCode.ofSuccess();
          }
        };
    try (SimulatedServices services =
        new SimulatedServices(
            isGrpc -> exporter,
            "",
            Optional.of(incident),
            SPANS_PER_SECOND,
            incident.number(),
            InstantSource.system())) {
      for (int i = 0; i < REQUESTS; i++) {
        services.request();
      }
    }
    return List.copyOf(sent);
  }

  /** Returns the service that a person would look at: the slowest, or that with most failures. */
  private static String worst(Incident incident, List<SpanData> spans) {
    Map<String, List<SpanData>> ofServices =
        spans.stream().collect(Collectors.groupingBy(IncidentTest::service));
    boolean isSlow = ofServices.values().stream().anyMatch(of -> p95(of) >= SLOW_NANOS);
    assertThat(isSlow).isEqualTo(incident.isSlow());
    return ofServices.entrySet().stream()
        .max((a, b) ->
            isSlow
                ? Long.compare(p95(a.getValue()), p95(b.getValue()))
                : Double.compare(
                    share(a.getValue(), IncidentTest::isFailed),
                    share(b.getValue(), IncidentTest::isFailed)))
        .orElseThrow()
        .getKey();
  }

  private static long p95(List<SpanData> spans) {
    return spans.stream()
        .map(IncidentTest::durationNanos)
        .sorted()
        .skip(spans.size() * 95L / 100)
        .findFirst()
        .orElseThrow();
  }

  private static List<SpanData> of(String service, List<SpanData> spans) {
    return spans.stream().filter(span -> service(span).equals(service)).toList();
  }

  private static List<SpanData> selected(
      Incident incident, List<SpanData> spans, boolean isSelected) {
    return spans.stream()
        .filter(span ->
            isSelected == (incident.isSlow() ? durationNanos(span) >= SLOW_NANOS : isFailed(span)))
        .toList();
  }

  private static double share(List<SpanData> spans, Predicate<SpanData> property) {
    return (double) spans.stream().filter(property).count() / spans.size();
  }

  private static String service(SpanData span) {
    return Objects.requireNonNull(span.getResource().getAttribute(ServiceAttributes.SERVICE_NAME));
  }

  private static String attribute(SpanData span, String name) {
    AttributeKey<String> key = AttributeKey.stringKey(name);
    String own = span.getAttributes().get(key);
    return own != null ? own : span.getResource().getAttribute(key);
  }

  private static boolean isFailed(SpanData span) {
    return span.getStatus().getStatusCode() == StatusCode.ERROR;
  }

  private static long durationNanos(SpanData span) {
    return span.getEndEpochNanos() - span.getStartEpochNanos();
  }
}
