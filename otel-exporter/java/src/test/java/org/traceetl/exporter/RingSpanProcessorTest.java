package org.traceetl.exporter;

import static org.assertj.core.api.Assertions.assertThat;

import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.sdk.resources.Resource;
import io.opentelemetry.sdk.testing.exporter.InMemorySpanExporter;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.SpanProcessor;
import io.opentelemetry.sdk.trace.export.SimpleSpanProcessor;
import io.opentelemetry.sdk.trace.samplers.Sampler;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.traceetl.exporter.ring.RingReader;
import org.traceetl.exporter.ring.RingSize;
import org.traceetl.exporter.ring.RingSpan;

class RingSpanProcessorTest {
  private static final Resource RESOURCE =
      Resource.create(Attributes.builder().put("service.name", "shop").build());

  @TempDir Path directory;

  @Test
  void aSpanIsInTheRingWhenItHasEnded() throws Exception {
    try (SdkTracerProvider provider = provider(processor(directory), Sampler.alwaysOn());
        RingReader reader = new RingReader(ring(directory))) {
      var parent = provider.get("test").spanBuilder("parent").startSpan();
      var span =
          provider
              .get("test")
              .spanBuilder("GET")
              .setParent(io.opentelemetry.context.Context.root().with(parent))
              .setSpanKind(SpanKind.CLIENT)
              .setAttribute("n", 1)
              .startSpan();
      span.recordException(new IllegalStateException("no"));
      span.setStatus(StatusCode.ERROR, "failed");
      span.end();

      List<RingSpan> read = reader.poll();
      assertThat(read).hasSize(1);
      RingSpan one = read.get(0);
      assertThat(String.format("%016x%016x", one.traceHigh, one.traceLow))
          .isEqualTo(span.getSpanContext().getTraceId());
      assertThat(String.format("%016x", one.id)).isEqualTo(span.getSpanContext().getSpanId());
      assertThat(String.format("%016x", one.parent)).isEqualTo(parent.getSpanContext().getSpanId());
      assertThat(one.kind).isEqualTo(3);
      assertThat(one.status).isEqualTo(2);
      assertThat(one.message).isEqualTo("failed");
      assertThat(one.attribute("n")).isEqualTo(1L);
      assertThat(one.events).hasSize(1);
      assertThat(one.events.get(0).name()).isEqualTo("exception");
      assertThat(one.events.get(0).attributes())
          .contains(
              new RingSpan.Attribute("exception.type", IllegalStateException.class.getName()));
      assertThat(reader.resource()).containsExactly(new RingSpan.Attribute("service.name", "shop"));
      parent.end();
      assertThat(reader.poll()).hasSize(1);
    }
  }

  @Test
  void aSpanThatIsRecordedAndNotSampledStaysHere() throws Exception {
    Sampler recordOnly =
        new Sampler() {
          @Override
          public io.opentelemetry.sdk.trace.samplers.SamplingResult shouldSample(
              io.opentelemetry.context.Context parent,
              String traceId,
              String name,
              SpanKind kind,
              Attributes attributes,
              List<io.opentelemetry.sdk.trace.data.LinkData> links) {
            return io.opentelemetry.sdk.trace.samplers.SamplingResult.recordOnly();
          }

          @Override
          public String getDescription() {
            return "record only";
          }
        };
    try (SdkTracerProvider provider = provider(processor(directory), recordOnly);
        RingReader reader = new RingReader(ring(directory))) {
      end(provider, "a");
      assertThat(reader.poll()).isEmpty();
    }
  }

  @Test
  void spansGoElsewhereWhileThereIsNoDirectoryAndComeWhenThereIs() throws Exception {
    Path missing = directory.resolve("later");
    InMemorySpanExporter elsewhere = InMemorySpanExporter.create();
    AtomicInteger made = new AtomicInteger();
    RingSpanProcessor processor =
        RingSpanProcessor.builder()
            .setDirectory(missing)
            .setResource(RESOURCE)
            .setFallback(() -> {
              made.incrementAndGet();
              return SimpleSpanProcessor.create(elsewhere);
            })
            .build();
    try (SdkTracerProvider provider = provider(processor, Sampler.alwaysOn())) {
      end(provider, "one");
      processor.look();
      end(provider, "two");
      assertThat(elsewhere.getFinishedSpanItems()).hasSize(2);
      assertThat(made).hasValue(1);

      Files.createDirectory(missing);
      processor.look();
      end(provider, "three");
      Path first = ring(missing);
      try (RingReader reader = new RingReader(first)) {
        assertThat(reader.poll()).extracting(span -> span.name).containsExactly("three");
        processor.look();
        assertThat(ring(missing)).isEqualTo(first);

        Files.delete(first);
        processor.look();
        end(provider, "four");
        assertThat(reader.poll()).isEmpty();
      }
      Path second = ring(missing);
      try (RingReader reader = new RingReader(second)) {
        assertThat(reader.poll()).extracting(span -> span.name).containsExactly("four");
      }
      Files.delete(second);
      Files.delete(missing);
      processor.look();
      assertThat(made).hasValue(2);
    }
  }

  @Test
  void aFailingSpanDoesNotReachTheApplication() throws Exception {
    RingSpanProcessor processor = processor(directory);
    try (SdkTracerProvider provider = provider(processor, Sampler.alwaysOn());
        RingReader reader = new RingReader(ring(directory))) {
      endWithValue(
          provider,
          new Object() {
            @Override
            public String toString() {
              throw new IllegalStateException("broken");
            }
          });
      end(provider, "good");

      assertThat(reader.poll()).extracting(span -> span.name).containsExactly("good");
      assertThat(processor.failures()).isEqualTo(1);
      processor.look();
    }
  }

  /**
   * The error is what JVMs throw for a page that is gone; older ones end, so none is taken away.
   */
  @Test
  void aRingThatCannotBeWrittenToIsReplaced() throws Exception {
    RingSpanProcessor processor = processor(directory);
    try (SdkTracerProvider provider = provider(processor, Sampler.alwaysOn())) {
      Path first = ring(directory);
      endWithValue(
          provider,
          new Object() {
            @Override
            public String toString() {
              throw new InternalError("a fault occurred in an unsafe memory access operation");
            }
          });
      end(provider, "lost");
      assertThat(processor.failures()).isEqualTo(1);
      Files.delete(first);

      processor.look();
      end(provider, "a");
      try (RingReader reader = new RingReader(ring(directory))) {
        assertThat(reader.poll()).extracting(span -> span.name).containsExactly("a");
      }
    }
  }

  @Test
  void afterShutdownNothingHappens() throws Exception {
    RingSpanProcessor processor = processor(directory);
    SdkTracerProvider provider = provider(processor, Sampler.alwaysOn());
    try (RingReader reader = new RingReader(ring(directory))) {
      assertThat(processor.forceFlush().isSuccess()).isTrue();
      assertThat(processor.shutdown().isSuccess()).isTrue();
      assertThat(processor.shutdown().isSuccess()).isTrue();
      end(provider, "late");
      processor.look();
      assertThat(reader.poll()).isEmpty();
      assertThat(ring(directory)).isNotNull();
    }
  }

  @Test
  void whereNothingIsToBeHadSpansGoNowhere() throws Exception {
    Path file = Files.writeString(directory.resolve("file"), "");
    RingSpanProcessor processor =
        RingSpanProcessor.builder().setDirectory(file).setSize(RingSize.of(64 << 10, 4096)).build();
    try (SdkTracerProvider provider = provider(processor, Sampler.alwaysOn())) {
      end(provider, "a");
      assertThat(processor.forceFlush().isSuccess()).isTrue();
      assertThat(file).isEmptyFile();
    }
  }

  private static RingSpanProcessor processor(Path directory) {
    return RingSpanProcessor.builder().setDirectory(directory).setResource(RESOURCE).build();
  }

  private static SdkTracerProvider provider(SpanProcessor processor, Sampler sampler) {
    return SdkTracerProvider.builder()
        .setResource(RESOURCE)
        .setSampler(sampler)
        .addSpanProcessor(processor)
        .build();
  }

  private static void end(SdkTracerProvider provider, String name) {
    Tracer tracer = provider.get("test");
    tracer.spanBuilder(name).startSpan().end();
  }

  /** A span with an attribute that the API does not know, which its types do not keep out. */
  @SuppressWarnings("unchecked")
  private static void endWithValue(SdkTracerProvider provider, Object value) {
    AttributeKey<Object> key = (AttributeKey<Object>) (AttributeKey<?>) AttributeKey.stringKey("k");
    provider.get("test").spanBuilder("bad").setAttribute(key, value).startSpan().end();
  }

  static Path ring(Path directory) throws IOException {
    try (var files = Files.list(directory)) {
      List<Path> rings = files.filter(file -> file.toString().endsWith(".ring")).toList();
      assertThat(rings).hasSize(1);
      return rings.get(0);
    }
  }
}
