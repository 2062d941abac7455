package org.traceetl.exporter;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.opentelemetry.api.OpenTelemetry;
import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.api.trace.TraceFlags;
import io.opentelemetry.api.trace.TraceState;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.context.Context;
import io.opentelemetry.context.Scope;
import io.opentelemetry.sdk.OpenTelemetrySdk;
import io.opentelemetry.sdk.autoconfigure.spi.ConfigurationException;
import io.opentelemetry.sdk.testing.exporter.InMemorySpanExporter;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.opentelemetry.sdk.trace.export.SimpleSpanProcessor;
import io.opentelemetry.sdk.trace.samplers.Sampler;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.traceetl.exporter.ring.RingReader;
import org.traceetl.exporter.ring.RingSize;
import org.traceetl.exporter.ring.RingSpan;

@Timeout(120)
class TraceEtlTracerProviderTest {
  private static final long FULL_T = 1L << 56;

  @TempDir Path directory;
  private final Map<String, String> environment = new HashMap<>();
  private TraceEtlTracerProvider provider;

  @AfterEach
  void close() {
    if (provider != null) {
      provider.close();
    }
  }

  @Test
  void aSpanIsInTheRingWhenItHasEnded() throws Exception {
    environment.put("OTEL_SERVICE_NAME", "shop");
    environment.put("OTEL_RESOURCE_ATTRIBUTES", "team=a%20b,odd=1%2,plus=1+1,service.name=other");
    try (RingReader reader = open()) {
      Tracer tracer = provider.get("test");
      Span parent = tracer.spanBuilder("parent").startSpan();
      Span span;
      try (Scope scope = parent.makeCurrent()) {
        span =
            tracer.spanBuilder("GET").setSpanKind(SpanKind.CLIENT).setAttribute("n", 1).startSpan();
        assertThat(reader.poll()).isEmpty();
        span.recordException(new IllegalStateException("no"));
        span.setStatus(StatusCode.ERROR, "failed").end();
      }
      List<RingSpan> read = reader.poll();
      assertThat(read).hasSize(1);
      RingSpan one = read.get(0);
      assertThat(String.format("%016x%016x", one.traceHigh, one.traceLow))
          .isEqualTo(span.getSpanContext().getTraceId())
          .isEqualTo(parent.getSpanContext().getTraceId());
      assertThat(String.format("%016x", one.id)).isEqualTo(span.getSpanContext().getSpanId());
      assertThat(String.format("%016x", one.parent)).isEqualTo(parent.getSpanContext().getSpanId());
      assertThat(span.getSpanContext().getTraceFlags().asHex()).isEqualTo("03");
      assertThat(one.kind).isEqualTo(3);
      assertThat(one.status).isEqualTo(2);
      assertThat(one.message).isEqualTo("failed");
      assertThat(one.attribute("n")).isEqualTo(1L);
      assertThat(one.events).extracting(RingSpan.Event::name).containsExactly("exception");
      assertThat(reader.resource())
          .contains(
              new RingSpan.Attribute("service.name", "shop"),
              new RingSpan.Attribute("team", "a b"),
              new RingSpan.Attribute("odd", "1%2"),
              new RingSpan.Attribute("plus", "1+1"),
              new RingSpan.Attribute("telemetry.sdk.language", "java"));
      parent.end();
      assertThat(reader.poll()).hasSize(1);
    }
  }

  @Test
  void idsAreDistinct() throws Exception {
    Set<String> ids = new HashSet<>();
    try (RingReader reader = open()) {
      for (int i = 0; i < 1_000; i++) {
        SpanContext context = provider.get("test").spanBuilder("a").startSpan().getSpanContext();
        assertThat(context.isValid()).isTrue();
        ids.add(context.getTraceId());
        ids.add(context.getSpanId());
      }
    }
    assertThat(ids).hasSize(2_000);
  }

  @ParameterizedTest
  @CsvSource({
    "always_on, true, true, true",
    "always_off, false, false, false",
    "parentbased_always_on, true, true, false",
    "parentbased_always_off, false, true, false",
    "parentbased_traceidratio, true, true, false",
    "traceidratio, true, true, true",
    "'', true, true, false",
  })
  void theSamplerIsThatOfTheEnvironment(
      String name, boolean root, boolean ofSampled, boolean ofDropped) throws Exception {
    environment.put("OTEL_TRACES_SAMPLER", name);
    try (RingReader reader = open()) {
      assertThat(isSampled(Context.root())).isEqualTo(root);
      assertThat(isSampled(remote(TraceFlags.getSampled()))).isEqualTo(ofSampled);
      assertThat(isSampled(remote(TraceFlags.getDefault()))).isEqualTo(ofDropped);
      int expected = (root ? 1 : 0) + (ofSampled ? 1 : 0) + (ofDropped ? 1 : 0);
      assertThat(reader.poll()).hasSize(expected);
    }
  }

  @Test
  void sampledSpansSayHowManyTheyRepresent() throws Exception {
    environment.put("OTEL_TRACES_SAMPLER", "parentbased_traceidratio");
    environment.put("OTEL_TRACES_SAMPLER_ARG", "0.25");
    try (RingReader reader = open()) {
      Tracer tracer = provider.get("test");
      int sampled = 0;
      for (int i = 0; i < 4_000; i++) {
        Span root = tracer.spanBuilder("root").setNoParent().startSpan();
        Span child = tracer.spanBuilder("child").setParent(Context.root().with(root)).startSpan();
        assertThat(child.isRecording()).isEqualTo(root.isRecording());
        assertThat(child.getSpanContext().getTraceState())
            .isEqualTo(root.getSpanContext().getTraceState());
        sampled += root.isRecording() ? 1 : 0;
        child.end();
        root.end();
      }
      List<RingSpan> spans = reader.poll();
      assertThat(spans).hasSize(2 * sampled);
      // 27 is the standard deviation.
      assertThat(sampled).isBetween(1_000 - 8 * 27, 1_000 + 8 * 27);
      assertThat(spans)
          .allSatisfy(span -> {
            assertThat(span.threshold).isEqualTo(FULL_T / 4 * 3);
            assertThat(span.traceLow & FULL_T - 1).isGreaterThanOrEqualTo(span.threshold);
          });
    }
  }

  @Test
  void theRandomnessOfATracestateDecidesAndItsOtherFieldsStay() throws Exception {
    environment.put("OTEL_TRACES_SAMPLER", "traceidratio");
    environment.put("OTEL_TRACES_SAMPLER_ARG", "0.5");
    try (RingReader reader = open()) {
      for (String randomness : List.of("80000000000000", "7fffffffffffff")) {
        TraceState state =
            TraceState.builder().put("a", "1").put("ot", "x:y;th:4;rv:" + randomness).build();
        Span span =
            provider
                .get("test")
                .spanBuilder("a")
                .setParent(remote(TraceFlags.getDefault(), state))
                .startSpan();
        boolean sampled = randomness.startsWith("8");
        assertThat(span.getSpanContext().isSampled()).isEqualTo(sampled);
        assertThat(span.getSpanContext().getTraceState().get("a")).isEqualTo("1");
        assertThat(span.getSpanContext().getTraceState().get("ot"))
            .isEqualTo((sampled ? "th:8;x:y;rv:" : "x:y;th:4;rv:") + randomness);
        span.end();
      }
      List<RingSpan> read = reader.poll();
      assertThat(read).hasSize(1);
      assertThat(read.get(0).threshold).isEqualTo(FULL_T / 2);
      assertThat(read.get(0).randomness).isEqualTo(FULL_T / 2);
    }
  }

  @Test
  void limitsAreThoseOfTheEnvironment() throws Exception {
    environment.put("OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT", "2");
    environment.put("OTEL_ATTRIBUTE_COUNT_LIMIT", "1");
    environment.put("OTEL_SPAN_ATTRIBUTE_VALUE_LENGTH_LIMIT", "3");
    environment.put("OTEL_SPAN_EVENT_COUNT_LIMIT", "1");
    try (RingReader reader = open()) {
      provider
          .get("test")
          .spanBuilder("a")
          .setAttribute("a", "12345")
          .startSpan()
          .setAttribute("b", "b")
          .setAttribute("c", "c")
          .setAttribute("b", "again")
          .addEvent("one", Attributes.builder().put("a", "12345").put("b", 2).build())
          .addEvent("two")
          .end();
      RingSpan span = reader.poll().get(0);
      assertThat(span.attributes)
          .containsExactly(new RingSpan.Attribute("a", "123"), new RingSpan.Attribute("b", "aga"));
      assertThat(span.events).hasSize(1);
      assertThat(span.events.get(0).attributes())
          .containsExactly(new RingSpan.Attribute("a", "123"));
    }
  }

  @ParameterizedTest
  @CsvSource({
    "OTEL_TRACES_SAMPLER, sometimes",
    "OTEL_TRACES_SAMPLER_ARG, many",
    "OTEL_TRACES_SAMPLER_ARG, 1.5",
    "OTEL_SPAN_EVENT_COUNT_LIMIT, few",
    "OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT, -1",
    "OTEL_EXPORTER_TRACE_ETL_RING_BYTES, 5000000",
    "OTEL_RESOURCE_ATTRIBUTES, team",
  })
  void anInvalidValueIsNamedInTheError(String key, String value) {
    environment.put("OTEL_TRACES_SAMPLER", "traceidratio");
    environment.put(key, value);
    String property = key.toLowerCase(java.util.Locale.ROOT).replace('_', '.');
    assertThatThrownBy(this::build)
        .isInstanceOf(ConfigurationException.class)
        .satisfies(e -> assertThat(e.getMessage().replace('-', '.')).contains(property))
        .hasMessageContaining(value);
    assertThat(directory).isEmptyDirectory();
  }

  @Test
  void aDisabledSdkMakesNothing() {
    environment.put("OTEL_SDK_DISABLED", "true");
    build();
    Span span = provider.get("test").spanBuilder("a").startSpan();
    assertThat(span.isRecording()).isFalse();
    span.end();
    assertThat(provider.forceFlush().isSuccess()).isTrue();
    assertThat(directory).isEmptyDirectory();
  }

  @Test
  void withoutADirectorySpansGoToOtlpAsTheEnvironmentConfiguresIt() throws Exception {
    try (OtlpReceiver otlp = new OtlpReceiver()) {
      environment.put("OTEL_EXPORTER_TRACE_ETL_DIRECTORY", directory + "/none");
      environment.put("OTEL_EXPORTER_OTLP_ENDPOINT", otlp.endpoint());
      environment.put("OTEL_EXPORTER_OTLP_PROTOCOL", "http/protobuf");
      environment.put("OTEL_EXPORTER_OTLP_TIMEOUT", "20s");
      environment.put("OTEL_BSP_SCHEDULE_DELAY", "60000");
      environment.put("OTEL_TRACES_EXPORTER", "otlp");
      build();
      end("a");
      assertThat(provider.forceFlush().join(30, TimeUnit.SECONDS).isSuccess()).isTrue();
      assertThat(otlp.names()).containsExactly("a");
      end("b");
      provider.close();
      assertThat(otlp.names()).containsExactly("a", "b");
    }
  }

  @Test
  void spansGoElsewhereWhileThereIsNoDirectoryAndComeWhenThereIs() throws Exception {
    Path later = directory.resolve("later");
    InMemorySpanExporter elsewhere = InMemorySpanExporter.create();
    provider =
        TraceEtlTracerProvider.builder()
            .setDirectory(later)
            .setSampler(Sampler.alwaysOn())
            .setFallback(() -> SimpleSpanProcessor.create(elsewhere))
            .build();
    Span before = provider.get("test", "2").spanBuilder("one").setAttribute("n", 1).startSpan();
    before.end();
    assertThat(elsewhere.getFinishedSpanItems()).hasSize(1);
    SpanData one = elsewhere.getFinishedSpanItems().get(0);
    assertThat(one.getSpanContext()).isEqualTo(before.getSpanContext());
    assertThat(one.getAttributes()).isEqualTo(Attributes.of(AttributeKey.longKey("n"), 1L));
    assertThat(one.getInstrumentationScopeInfo().getVersion()).isEqualTo("2");
    assertThat(one.hasEnded()).isTrue();

    Span across = provider.get("test").spanBuilder("two").startSpan();
    Files.createDirectory(later);
    provider.look();
    across.end();
    try (RingReader reader = new RingReader(RingSpanProcessorTest.ring(later))) {
      assertThat(reader.poll()).extracting(span -> span.name).containsExactly("two");
    }
    assertThat(elsewhere.getFinishedSpanItems()).hasSize(1);
  }

  @Test
  void aFullRingDropsAndCounts() throws Exception {
    environment.put("OTEL_EXPORTER_TRACE_ETL_RING_BYTES", "65536");
    try (RingReader reader = open()) {
      for (int i = 0; i < 1_000; i++) {
        end("a");
      }
      int written = reader.poll().size();
      assertThat(written).isBetween(100, 999);
      assertThat(reader.file().getLong(264)).isEqualTo(1_000 - written);
      provider
          .get("test")
          .spanBuilder("b")
          .setAttribute("large", "x".repeat(1 << 16))
          .startSpan()
          .end();
      assertThat(reader.file().getLong(272)).isOne();
      end("c");
      assertThat(reader.poll()).extracting(span -> span.name).containsExactly("c");
    }
  }

  @Test
  @SuppressWarnings("unchecked") // an attribute that the API's types keep out
  void aFailingSpanDoesNotReachTheApplication() throws Exception {
    try (RingReader reader = open()) {
      AttributeKey<Object> key =
          (AttributeKey<Object>) (AttributeKey<?>) AttributeKey.stringKey("k");
      Object broken =
          new Object() {
            @Override
            public String toString() {
              throw new IllegalStateException("broken");
            }
          };
      provider.get("test").spanBuilder("bad").setAttribute(key, broken).startSpan().end();
      end("good");
      assertThat(reader.poll()).extracting(span -> span.name).containsExactly("good");
      assertThat(provider.failures()).isOne();
    }
  }

  @Test
  void afterShutdownNothingHappens() throws Exception {
    try (RingReader reader = open()) {
      Span late = provider.get("test").spanBuilder("late").startSpan();
      assertThat(provider.shutdown().isSuccess()).isTrue();
      assertThat(provider.shutdown().isSuccess()).isTrue();
      late.end();
      assertThat(provider.get("test").spanBuilder("later").startSpan().isRecording()).isFalse();
      assertThat(reader.poll()).isEmpty();
    }
  }

  @Test
  void otherPartsOfAnOpenTelemetryStay() throws Exception {
    try (OpenTelemetrySdk others = OpenTelemetrySdk.builder().build();
        RingReader reader = open()) {
      OpenTelemetry both = provider.replaceTracersOf(others);
      both.getTracer("test").spanBuilder("a").startSpan().end();
      assertThat(reader.poll()).hasSize(1);
      assertThat(both.getMeterProvider()).isSameAs(others.getMeterProvider());
      assertThat(both.getLogsBridge()).isSameAs(others.getLogsBridge());
      assertThat(both.getPropagators()).isSameAs(others.getPropagators());
    }
  }

  @Test
  void threadsShareTracerAndSpan() throws Exception {
    int threads = 4;
    long each = 2_000;
    try (RingReader reader = open()) {
      Tracer tracer = provider.get("test");
      Span shared = tracer.spanBuilder("shared").startSpan();
      Thread[] running = new Thread[threads];
      for (int t = 0; t < threads; t++) {
        long first = each * t;
        running[t] =
            new Thread(() -> {
              for (long i = first; i < first + each; i++) {
                tracer.spanBuilder("work").setAttribute("number", i).startSpan().end();
                shared.setAttribute("key." + i % 50, i).addEvent("e" + i);
                if (i % each == each - 1) {
                  shared.end();
                }
              }
            });
        running[t].start();
      }
      for (Thread thread : running) {
        thread.join();
      }
      List<RingSpan> spans = reader.poll();
      assertThat(spans.stream().filter(span -> span.name.equals("shared"))).hasSize(1);
      assertThat(
              spans.stream()
                  .filter(span -> span.name.equals("work"))
                  .map(span -> (Long) span.attribute("number")))
          .containsExactlyInAnyOrderElementsOf(
              LongStream.range(0, each * threads).boxed().toList());
      assertThat(provider.failures()).isZero();
    }
  }

  private void build() {
    environment.putIfAbsent("OTEL_EXPORTER_TRACE_ETL_DIRECTORY", directory.toString());
    provider =
        TraceEtlTracerProvider.builder().build(new Environment(key -> null, environment::get));
  }

  private RingReader open() throws Exception {
    build();
    return new RingReader(RingSpanProcessorTest.ring(directory));
  }

  private void end(String name) {
    provider.get("test").spanBuilder(name).startSpan().end();
  }

  private boolean isSampled(Context parent) {
    Span span = provider.get("test").spanBuilder("a").setParent(parent).startSpan();
    span.end();
    return span.getSpanContext().isSampled();
  }

  private static Context remote(TraceFlags flags) {
    return remote(flags, TraceState.getDefault());
  }

  private static Context remote(TraceFlags flags, TraceState state) {
    return Context.root()
        .with(
            Span.wrap(
                SpanContext.createFromRemoteParent(
                    "00112233445566778899aabbccddeeff", "0123456789abcdef", flags, state)));
  }

  @Test
  void sizesMayBeSetInCode() throws Exception {
    provider =
        TraceEtlTracerProvider.builder()
            .setDirectory(directory)
            .setSize(RingSize.of(1 << 17, 8192))
            .setSamplingRatio(1)
            .build();
    try (RingReader reader = new RingReader(RingSpanProcessorTest.ring(directory))) {
      assertThat(reader.file().getLong(24)).isEqualTo(1 << 17);
      end("a");
      assertThat(reader.poll().get(0).threshold).isZero();
    }
  }
}
