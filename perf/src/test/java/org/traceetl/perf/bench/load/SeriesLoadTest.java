package org.traceetl.perf.bench.load;

import static org.assertj.core.api.Assertions.assertThat;

import io.opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest;
import io.opentelemetry.proto.trace.v1.ResourceSpans;
import io.opentelemetry.proto.trace.v1.Span;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

final class SeriesLoadTest {
  @Test
  void allSeriesHaveASpanEachTime() throws Exception {
    SeriesLoad load = new SeriesLoad(95);
    assertThat(load.series()).isEqualTo(120);

    Set<String> first = new HashSet<>(series(load.next(1_000)));
    List<String> second = series(load.next(2_000));

    assertThat(first).hasSize(120);
    assertThat(second).hasSizeGreaterThan(120).allMatch(first::contains);
    assertThat(new HashSet<>(second)).isEqualTo(first);
  }

  private static List<String> series(List<SeriesLoad.Request> requests) throws Exception {
    List<String> series = new ArrayList<>();
    for (SeriesLoad.Request request : requests) {
      ResourceSpans ofResource =
          ExportTraceServiceRequest.parseFrom(request.bytes()).getResourceSpans(0);
      List<Span> spans = ofResource.getScopeSpans(0).getSpansList();
      assertThat(spans).hasSize(request.spans());
      spans.forEach(span ->
          series.add(
              String.join(
                  "|",
                  ofResource.getResource().toString(),
                  span.getName(),
                  span.getKind().toString(),
                  span.getStatus().toString(),
                  span.getAttributesList().toString())));
    }
    return series;
  }
}
