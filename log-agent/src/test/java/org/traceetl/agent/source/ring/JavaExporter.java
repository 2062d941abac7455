package org.traceetl.agent.source.ring;

import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.common.AttributesBuilder;
import io.opentelemetry.api.common.Value;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.SpanId;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.api.trace.TraceFlags;
import io.opentelemetry.api.trace.TraceId;
import io.opentelemetry.api.trace.TraceState;
import io.opentelemetry.sdk.testing.trace.TestSpanData;
import io.opentelemetry.sdk.trace.data.EventData;
import io.opentelemetry.sdk.trace.data.LinkData;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.opentelemetry.sdk.trace.data.StatusData;
import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import org.traceetl.exporter.ring.RingSize;
import org.traceetl.exporter.ring.RingWriter;
import org.traceetl.proto.ring.RingGolden;
import org.traceetl.proto.ring.RingSpan;

/** An application that writes the golden ring's spans as spans of OpenTelemetry's SDK. */
final class JavaExporter {
  private static final Map<Integer, SpanKind> KINDS =
      Map.of(2, SpanKind.SERVER, 3, SpanKind.CLIENT, 5, SpanKind.CONSUMER);
  private static final Map<Integer, StatusCode> STATUSES =
      Map.of(0, StatusCode.UNSET, 1, StatusCode.OK, 2, StatusCode.ERROR);

  private JavaExporter() {}

  /** Creates a number of rings in a directory, and waits to be killed. */
  public static void main(String[] args) throws Exception {
    int count = Integer.parseInt(args[1]);
    List<RingWriter> kept = new ArrayList<>();
    try {
      while (kept.size() < count) {
        kept.add(write(Path.of(args[0])));
      }
    } catch (AccessDeniedException e) {
      System.out.println("refused");
      return;
    }
    System.out.println("made " + kept.size());
    Thread.currentThread().join();
  }

  /** Writes the golden ring's spans. */
  static RingWriter write(Path directory) throws IOException {
    RingWriter writer =
        RingWriter.create(
            directory, RingSize.of(65_536, 4_096), attributes(RingGolden.SHAPE.resource()));
    for (RingSpan span : RingGolden.SPANS) {
      if (!writer.write(data(span))) {
        throw new IllegalStateException("dropped");
      }
    }
    return writer;
  }

  /** Returns a span as the SDK's class. */
  static SpanData data(RingSpan span) {
    long high = span.traceIdHigh();
    long low = span.traceIdLow();
    return TestSpanData.builder()
        .setSpanContext(context(high, low, span.spanId(), traceState(span)))
        .setParentSpanContext(context(high, low, span.parentSpanId(), TraceState.getDefault()))
        .setName(span.name())
        .setKind(KINDS.get(span.kind()))
        .setStatus(StatusData.create(STATUSES.get(span.status()), span.statusMessage()))
        .setStartEpochNanos(span.startUnixNanos())
        .setEndEpochNanos(span.startUnixNanos() + span.durationNanos())
        .setHasEnded(true)
        .setAttributes(attributes(span.attributes()))
        .setEvents(
            span.events().stream()
                .map(event ->
                    EventData.create(
                        span.startUnixNanos() + event.offsetNanos(),
                        event.name(),
                        attributes(event.attributes())))
                .toList())
        .setLinks(
            span.links().stream()
                .map(link ->
                    LinkData.create(
                        context(
                            link.traceIdHigh(),
                            link.traceIdLow(),
                            link.spanId(),
                            TraceState.getDefault())))
                .toList())
        .build();
  }

  private static SpanContext context(long high, long low, long spanId, TraceState state) {
    return SpanContext.create(
        TraceId.fromLongs(high, low), SpanId.fromLong(spanId), TraceFlags.getSampled(), state);
  }

  private static TraceState traceState(RingSpan span) {
    return span.randomness() < 0
        ? TraceState.getDefault()
        : TraceState.builder()
            .put(
                "ot",
                String.format("th:%014x;rv:%014x", span.samplingThreshold(), span.randomness()))
            .build();
  }

  private static Attributes attributes(Map<String, Object> values) {
    AttributesBuilder attributes = Attributes.builder();
    values.forEach((key, value) -> {
      switch (value) {
        case String text -> attributes.put(key, text);
        case Long integer -> attributes.put(key, integer);
        case Boolean bool -> attributes.put(key, bool);
        case Double real -> attributes.put(key, real);
        case RingSpan.Base64 bytes ->
            attributes.put(
                AttributeKey.valueKey(key), Value.of(Base64.getDecoder().decode(bytes.text())));
        case RingSpan.Json array ->
            attributes.put(
                key,
                List.of(array.text().replaceAll("[\\[\\]\"]", "").split(","))
                    .toArray(String[]::new));
        default -> throw new IllegalArgumentException(key);
      }
    });
    return attributes.build();
  }
}
