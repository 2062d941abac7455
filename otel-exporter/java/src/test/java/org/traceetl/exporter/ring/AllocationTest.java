package org.traceetl.exporter.ring;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.sdk.trace.data.EventData;
import io.opentelemetry.sdk.trace.data.LinkData;
import io.opentelemetry.sdk.trace.data.SpanData;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class AllocationTest {
  @TempDir Path directory;

  @Test
  void writingASpanAllocatesNothing() throws Exception {
    LinkData link = LinkData.create(RingWriterTest.span("linked").build().getSpanContext());
    SpanData[] spans = new SpanData[64];
    for (int i = 0; i < spans.length; i++) {
      spans[i] =
          RingWriterTest.span("GET /cart/{id}")
              .setAttributes(
                  Attributes.builder()
                      .put("http.request.method", "GET")
                      .put("http.response.status_code", 200 + i)
                      .put("url.path", "/cart/" + i * 7919)
                      .put("ä", "ö" + i)
                      .put("ratio", 0.5)
                      .put("cached", i % 2 == 0)
                      .build())
              .setEvents(List.of(EventData.create(2000, "retry", Attributes.empty())))
              .setKind(i % 4 == 0 ? SpanKind.SERVER : SpanKind.CONSUMER)
              .setLinks(i % 2 == 0 ? List.of() : List.of(link, link))
              .build();
    }
    try (RingWriter writer =
            RingWriter.create(directory, RingSize.of(64 << 10, 4096), Attributes.empty());
        RingReader reader = new RingReader(writer.file())) {
      ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
      long least = Long.MAX_VALUE;
      for (int round = 0; round < 200 && least > 0; round++) {
        long before = threads.getCurrentThreadAllocatedBytes();
        for (SpanData span : spans) {
          writer.write(span);
        }
        least = Math.min(least, threads.getCurrentThreadAllocatedBytes() - before);
        assertThat(reader.poll()).hasSize(spans.length);
      }
      assertThat(least).isZero();
    }
  }
}
