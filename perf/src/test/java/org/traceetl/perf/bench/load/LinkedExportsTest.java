package org.traceetl.perf.bench.load;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import com.google.protobuf.InvalidProtocolBufferException;
import io.opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest;
import io.opentelemetry.proto.trace.v1.Span;
import io.opentelemetry.proto.trace.v1.Span.SpanKind;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

final class LinkedExportsTest {
  private static final int REQUESTS = 40;

  private final LinkedExports linked = new LinkedExports(REQUESTS);

  /** Callers and callees of a sending, by trace ID and the caller's span ID. */
  private static final class Sent implements OtlpSender {
    private final Map<ByteString, List<SpanKind>> callers = new HashMap<>();
    private final Map<ByteString, List<SpanKind>> callees = new HashMap<>();
    private final AtomicInteger requests = new AtomicInteger();
    private int roots;

    @Override
    public void send(byte[] request, Consumer<String> answered) {
      requests.incrementAndGet();
      try {
        ExportTraceServiceRequest.parseFrom(request)
            .getResourceSpans(0)
            .getScopeSpans(0)
            .getSpansList()
            .forEach(this::add);
      } catch (InvalidProtocolBufferException e) {
        throw new IllegalStateException(e);
      }
      answered.accept(null);
    }

    private void add(Span span) {
      switch (span.getKind()) {
        case SPAN_KIND_CLIENT, SPAN_KIND_PRODUCER ->
            add(callers, span.getTraceId().concat(span.getSpanId()), span.getKind());
        case SPAN_KIND_SERVER, SPAN_KIND_CONSUMER -> {
          if (span.getParentSpanId().isEmpty()) {
            roots++;
          } else {
            add(callees, span.getTraceId().concat(span.getParentSpanId()), span.getKind());
          }
        }
        default -> {}
      }
    }

    private static void add(Map<ByteString, List<SpanKind>> ends, ByteString key, SpanKind kind) {
      ends.computeIfAbsent(key, any -> new ArrayList<>()).add(kind);
    }

    @Override
    public void close() {}
  }

  @Test
  void everyCallerOfALoadHasOneCallee() throws Exception {
    ExportLoad load = ExportLoad.linked(linked, 8);
    Sent sent = new Sent();

    long spans = 0;
    for (int i = 0; i < 3; i++) {
      spans += load.send(sent, 20_000_000, Double.POSITIVE_INFINITY).spans();
    }

    assertThat(sent.requests.get() % REQUESTS).isZero();
    assertThat(sent.callees.keySet()).isEqualTo(sent.callers.keySet()).isNotEmpty();
    sent.callers.forEach((key, kinds) ->
        assertThat(sent.callees.get(key))
            .containsExactly(
                kinds.equals(List.of(SpanKind.SPAN_KIND_CLIENT))
                    ? SpanKind.SPAN_KIND_SERVER
                    : SpanKind.SPAN_KIND_CONSUMER));
    int requests = sent.callees.size() + sent.roots;
    assertThat(requests).isEqualTo((int) Math.round(spans * linked.requestsPerSpan()));
    assertThat(requests + sent.callers.size())
        .isEqualTo((int) Math.round(spans * linked.halvesPerSpan()));
  }
}
