package org.traceetl.exporter.ring;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.common.AttributesBuilder;
import io.opentelemetry.api.common.Value;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.api.trace.TraceFlags;
import io.opentelemetry.api.trace.TraceState;
import io.opentelemetry.sdk.testing.trace.TestSpanData;
import io.opentelemetry.sdk.trace.data.EventData;
import io.opentelemetry.sdk.trace.data.LinkData;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.opentelemetry.sdk.trace.data.StatusData;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Random;

/** Spans of all kinds, and what a reader should make of each. */
final class RandomSpans {
  private final Random random;

  RandomSpans(long seed) {
    random = new Random(seed);
  }

  SpanData next() {
    long start = random.nextLong(1L << 61);
    int events = random.nextInt(4) == 0 ? random.nextInt(5) : 0;
    List<EventData> list = new ArrayList<>();
    for (int i = 0; i < events; i++) {
      list.add(
          EventData.create(
              start + random.nextInt(2000) - 1000, text(), attributes(random.nextInt(3))));
    }
    return span(start, start + random.nextLong(1L << random.nextInt(50)) - 5)
        .setName(text())
        .setKind(SpanKind.values()[random.nextInt(SpanKind.values().length)])
        .setStatus(
            StatusData.create(
                StatusCode.values()[random.nextInt(3)], random.nextBoolean() ? "" : text()))
        .setAttributes(attributes(random.nextInt(12)))
        .setEvents(list)
        .setLinks(links())
        .build();
  }

  private List<LinkData> links() {
    List<LinkData> links = new ArrayList<>();
    int count = random.nextInt(2) == 0 ? 0 : random.nextInt(10) == 0 ? 140 : random.nextInt(4);
    for (int i = 0; i < count; i++) {
      SpanContext to = context(TraceState.getDefault());
      links.add(LinkData.create(random.nextInt(5) == 0 ? SpanContext.getInvalid() : to));
    }
    return links;
  }

  private TestSpanData.Builder span(long start, long end) {
    TraceState state =
        random.nextBoolean()
            ? TraceState.getDefault()
            : TraceState.builder()
                .put("ot", random.nextBoolean() ? "th:c8" : "rv:00ffeeddccbbaa;th:4")
                .build();
    return TestSpanData.builder()
        .setHasEnded(true)
        .setSpanContext(context(state))
        .setParentSpanContext(
            random.nextBoolean()
                ? SpanContext.getInvalid()
                : SpanContext.create(
                    "00000000000000000000000000000001",
                    String.format("%016x", random.nextLong() | 1),
                    TraceFlags.getSampled(),
                    TraceState.getDefault()))
        .setStartEpochNanos(start)
        .setEndEpochNanos(end);
  }

  private SpanContext context(TraceState state) {
    return SpanContext.create(
        String.format("%016x%016x", random.nextLong(), random.nextLong() | 1),
        String.format("%016x", random.nextLong() | 1),
        TraceFlags.getSampled(),
        state);
  }

  private Attributes attributes(int count) {
    AttributesBuilder builder = Attributes.builder();
    for (int i = 0; i < count; i++) {
      String key = random.nextInt(10) == 0 ? "k" + text() : "key." + random.nextInt(40);
      switch (random.nextInt(9)) {
        case 0:
          builder.put(key, random.nextBoolean());
          break;
        case 1:
          builder.put(key, random.nextLong() >> random.nextInt(64));
          break;
        case 2:
          builder.put(key, random.nextGaussian());
          break;
        case 3:
          builder.put(key, text(), "a \"quoted\\ one\n");
          break;
        case 4:
          builder.put(key, random.nextLong(), -1);
          break;
        case 5:
          builder.put(AttributeKey.valueKey(key), Value.of(text().getBytes(UTF_8)));
          break;
        default:
          builder.put(key, text());
      }
    }
    return builder.build();
  }

  private String text() {
    if (random.nextInt(3) > 0) {
      return "often " + random.nextInt(20);
    }
    StringBuilder text = new StringBuilder();
    int kind = random.nextInt(4);
    for (int rest = random.nextInt(random.nextInt(20) == 0 ? 2000 : 30); rest > 0; rest--) {
      switch (kind) {
        case 0:
          text.append((char) ('a' + random.nextInt(26)));
          break;
        case 1:
          text.append((char) random.nextInt(0x400));
          break;
        case 2:
          text.appendCodePoint(0x1F600 + random.nextInt(80));
          break;
        default:
          text.append((char) random.nextInt(0x10000)); // halves of pairs too
      }
    }
    return text.toString();
  }

  /** What {@link RingSpan#toString} of it should be. */
  static String expected(SpanData span) {
    RingSpan expected = new RingSpan();
    expected.traceHigh = Long.parseUnsignedLong(span.getTraceId().substring(0, 16), 16);
    expected.traceLow = Long.parseUnsignedLong(span.getTraceId().substring(16), 16);
    expected.id = Long.parseUnsignedLong(span.getSpanId(), 16);
    expected.parent = Long.parseUnsignedLong(span.getParentSpanId(), 16);
    expected.startNanos = span.getStartEpochNanos();
    expected.durationNanos = Math.max(0, span.getEndEpochNanos() - span.getStartEpochNanos());
    expected.kind =
        List.of("", "INTERNAL", "SERVER", "CLIENT", "PRODUCER", "CONSUMER")
            .indexOf(span.getKind().name());
    expected.status =
        List.of("UNSET", "OK", "ERROR").indexOf(span.getStatus().getStatusCode().name());
    String sampling = span.getSpanContext().getTraceState().get("ot");
    expected.threshold = sampling == null ? 0 : sampling.endsWith("c8") ? 0xc8L << 48 : 4L << 52;
    expected.randomness = sampling == null || !sampling.startsWith("rv") ? -1 : 0x00ffeeddccbbaaL;
    expected.name = utf8(span.getName());
    expected.message = utf8(span.getStatus().getDescription());
    expected.attributes = expected(span.getAttributes());
    for (EventData event : span.getEvents()) {
      expected.events.add(
          new RingSpan.Event(
              utf8(event.getName()),
              event.getEpochNanos() - span.getStartEpochNanos(),
              expected(event.getAttributes())));
    }
    if (span.getKind() == SpanKind.CONSUMER) {
      span.getLinks().stream()
          .map(LinkData::getSpanContext)
          .filter(SpanContext::isValid)
          .limit(128)
          .forEach(to -> expected.links.add(to.getTraceId() + '/' + to.getSpanId()));
    }
    return expected.toString();
  }

  private static List<RingSpan.Attribute> expected(Attributes attributes) {
    List<RingSpan.Attribute> expected = new ArrayList<>();
    attributes.forEach(
        (key, value) -> expected.add(new RingSpan.Attribute(utf8(key.getKey()), expected(value))));
    return expected;
  }

  private static Object expected(Object value) {
    if (value instanceof String text) {
      return utf8(text);
    }
    if (value instanceof List<?> list) {
      StringBuilder json = new StringBuilder("JSON [");
      for (Object element : list) {
        json.append(json.length() == 6 ? "" : ",");
        json.append(element instanceof String text ? quoted(text) : element);
      }
      return utf8(json.append(']').toString());
    }
    if (value instanceof Value<?> bytes) {
      java.nio.ByteBuffer buffer = (java.nio.ByteBuffer) bytes.getValue();
      byte[] copy = new byte[buffer.remaining()];
      buffer.get(copy);
      return "base64 " + Base64.getEncoder().encodeToString(copy);
    }
    return value;
  }

  private static String quoted(String text) {
    StringBuilder json = new StringBuilder("\"");
    for (char c : text.toCharArray()) {
      if (c == '"' || c == '\\') {
        json.append('\\').append(c);
      } else if (c < 0x20) {
        json.append(String.format("\\u%04x", (int) c));
      } else {
        json.append(c);
      }
    }
    return json.append('"').toString();
  }

  /** As it comes back: halves of pairs as question marks. */
  private static String utf8(String text) {
    return new String(text.getBytes(UTF_8), UTF_8);
  }
}
