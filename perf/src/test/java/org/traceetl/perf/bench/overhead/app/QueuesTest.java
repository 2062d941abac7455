package org.traceetl.perf.bench.overhead.app;

import static org.assertj.core.api.Assertions.assertThat;

import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.sdk.common.CompletableResultCode;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.opentelemetry.sdk.trace.export.BatchSpanProcessor;
import io.opentelemetry.sdk.trace.export.SpanExporter;
import java.time.Duration;
import java.util.Collection;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

final class QueuesTest {
  /** Answers an export when the test says so. */
  private static final class Waiting implements SpanExporter {
    private final CompletableResultCode answer = new CompletableResultCode();
    private final AtomicInteger exported = new AtomicInteger();

    @Override
    public CompletableResultCode export(Collection<SpanData> spans) {
      exported.addAndGet(spans.size());
      return answer;
    }

    @Override
    public CompletableResultCode flush() {
      return CompletableResultCode.ofSuccess();
    }

    @Override
    public CompletableResultCode shutdown() {
      return CompletableResultCode.ofSuccess();
    }
  }

  private final Queues queues = new Queues();
  private final Waiting exporter = new Waiting();
  private final SdkTracerProvider provider =
      SdkTracerProvider.builder()
          .addSpanProcessor(
              BatchSpanProcessor.builder(queues.counted(exporter))
                  // Exports full batches only.
                  .setScheduleDelay(Duration.ofHours(1))
                  .build())
          .build();

  QueuesTest() {
    queues.add(provider);
  }

  @AfterEach
  void close() {
    exporter.answer.succeed();
    provider.close();
  }

  private void end(int spans) {
    Tracer tracer = provider.get("test");
    for (int i = 0; i < spans; i++) {
      tracer.spanBuilder("span").startSpan().end();
    }
    queues.ended(0, spans);
  }

  @Test
  void noSpanIsDroppedWhileThereIsRoom() {
    int ended = 0;
    while (ended <= Queues.SPANS && queues.hasRoom(64)) {
      end(64);
      ended += 64;
    }
    assertThat(ended).isEqualTo(Queues.SPANS);
    assertThat(exporter.exported).hasValueLessThan(ended);

    exporter.answer.succeed();
    queues.flush();

    assertThat(exporter.exported).hasValue(ended);
    assertThat(queues.dropped()).isZero();
    assertThat(queues.failed()).isZero();
    assertThat(queues.hasRoom(Queues.SPANS)).isTrue();
  }

  @Test
  void spansWithoutRoomAreDroppedAndCounted() {
    // At most a queue and a batch are taken before an export is answered.
    end(2 * Queues.SPANS);
    exporter.answer.succeed();
    queues.flush();

    assertThat(queues.dropped()).isPositive().isEqualTo(2 * Queues.SPANS - exporter.exported.get());
  }

  @Test
  void failedExportsAreCountedAndMakeRoom() {
    end(64);
    exporter.answer.fail();
    queues.flush();

    assertThat(queues.failed()).isEqualTo(64);
    assertThat(queues.dropped()).isZero();
    assertThat(queues.hasRoom(Queues.SPANS)).isTrue();
  }
}
