package org.traceetl.exporter;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.sdk.trace.samplers.Sampler;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.traceetl.exporter.ring.RingReader;

class ProviderAllocationTest {
  private static final AttributeKey<String> ROUTE = AttributeKey.stringKey("http.route");
  private static final int SPANS = 64;

  @TempDir Path directory;

  @Test
  void endingASpanAllocatesNothing() throws Exception {
    try (TraceEtlTracerProvider provider =
            TraceEtlTracerProvider.builder()
                .setDirectory(directory)
                .setSampler(Sampler.alwaysOn())
                .build();
        RingReader reader = new RingReader(RingSpanProcessorTest.ring(directory))) {
      Tracer tracer = provider.get("test");
      ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
      Span[] spans = new Span[SPANS];
      long least = Long.MAX_VALUE;
      for (int round = 0; round < 300 && least > 0; round++) {
        for (int i = 0; i < SPANS; i++) {
          spans[i] =
              tracer
                  .spanBuilder("GET /cart/{id}")
                  .setNoParent()
                  .setSpanKind(i % 2 == 0 ? SpanKind.SERVER : SpanKind.CONSUMER)
                  .setAttribute(ROUTE, "/cart/{id}")
                  .setAttribute("url.path", "/cart/" + i * 7919)
                  .setAttribute("http.response.status_code", 200 + i)
                  .setAttribute("ratio", 0.5)
                  .setAttribute("cached", i % 2 == 0)
                  .startSpan()
                  .addEvent("retry");
        }
        long before = threads.getCurrentThreadAllocatedBytes();
        for (Span span : spans) {
          span.end();
        }
        least = Math.min(least, threads.getCurrentThreadAllocatedBytes() - before);
        assertThat(reader.poll()).hasSize(SPANS);
      }
      assertThat(least).isZero();
    }
  }
}
