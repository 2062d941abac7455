package org.traceetl.perf.bench.overhead.app;

import static java.util.stream.Collectors.groupingBy;
import static org.assertj.core.api.Assertions.assertThat;

import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.sdk.common.CompletableResultCode;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.opentelemetry.sdk.trace.export.SimpleSpanProcessor;
import io.opentelemetry.sdk.trace.export.SpanExporter;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.traceetl.perf.bench.load.SpanStream;

final class FleetAppTest {
  private static final AttributeKey<String> ROUTE = AttributeKey.stringKey("http.route");

  /** The answer to work of one burst. */
  private static final String BURST = "spans=256 dropped=0 failed=0 checksum=";

  private final List<SpanData> exported = new ArrayList<>();

  /** Collects exported spans. */
  private final class Collecting implements SpanExporter {
    @Override
    public CompletableResultCode export(Collection<SpanData> spans) {
      exported.addAll(spans);
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
  }

  private String traced() throws InterruptedException {
    Queues queues = new Queues();
    List<TracedCalls> traced = new ArrayList<>();
    for (int application = 0; application < CallStream.APPLICATIONS; application++) {
      SdkTracerProvider provider =
          SdkTracerProvider.builder()
              .addSpanProcessor(SimpleSpanProcessor.create(queues.counted(new Collecting())))
              .build();
      queues.add(provider);
      traced.add(new TracedCalls(provider.get("test")));
    }
    return new FleetApp(traced, queues).work(0, Double.POSITIVE_INFINITY);
  }

  @Test
  void allSpansOfARequestAreInOneTraceOfOneApplication() throws Exception {
    assertThat(traced()).startsWith(BURST);
    Map<String, List<SpanData>> traces =
        exported.stream().collect(groupingBy(SpanData::getTraceId));

    assertThat(traces).hasSize(256 / FleetApp.SPANS);
    assertThat(traces.values())
        .allSatisfy(spans -> {
          SpanData root = spans.getLast();
          assertThat(root.getParentSpanContext().isValid()).isFalse();
          assertThat(spans.subList(0, spans.size() - 1))
              .hasSize(FleetApp.SPANS - 1)
              .allMatch(span -> span.getParentSpanId().equals(root.getSpanId()));
          assertThat(spans.stream().map(FleetAppTest::application).distinct()).hasSize(1);
        });
    assertThat(exported.stream().map(FleetAppTest::application).distinct().count())
        .isGreaterThan(1);
  }

  private static String application(SpanData span) {
    String route = span.getAttributes().get(ROUTE);
    assertThat(span.getName()).isEqualTo("GET " + route);
    return route.substring(0, route.indexOf("/resource"));
  }

  @Test
  void spansHaveAsManyAttributesAsThoseOfTheSender() throws Exception {
    traced();

    assertThat(exported)
        .allMatch(span -> span.getAttributes().size() == SpanStream.ATTRIBUTES)
        .allMatch(span -> span.getEndEpochNanos() > span.getStartEpochNanos());
  }

  @Test
  void untracedWorkIsTheSame() throws Exception {
    String untraced = new FleetApp(List.of(), Outlet.NONE).work(0, Double.POSITIVE_INFINITY);

    assertThat(untraced).startsWith(BURST).isEqualTo(traced());
  }
}
