package org.traceetl.agent.source.payload;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.traceetl.agent.flow.Attributes;
import org.traceetl.agent.flow.KeySet;
import org.traceetl.agent.flow.SpanEvents;
import org.traceetl.agent.flow.SpanLinks;
import org.traceetl.agent.flow.SpanSink;
import org.traceetl.agent.flow.SpanView;
import org.traceetl.agent.flow.WantedEvents;

/** Records copies of a decoder's output. */
public final class RecordingSink implements SpanSink {
  /** A copy of a span. */
  public record Recorded(
      Map<String, String> resource,
      long traceIdHigh,
      long traceIdLow,
      long spanId,
      long parentSpanId,
      String name,
      int kind,
      int status,
      String statusMessage,
      long startUnixNanos,
      long durationNanos,
      long samplingThreshold,
      Map<String, String> attributes) {}

  public final List<Map<String, String>> resources = new ArrayList<>();
  public final List<Recorded> spans = new ArrayList<>();
  public final List<Long> randomness = new ArrayList<>();
  public final List<Long> sizes = new ArrayList<>();
  public final List<String> rejected = new ArrayList<>();

  /** By span: name and attributes of each event. */
  public final List<List<Map.Entry<String, Map<String, String>>>> events = new ArrayList<>();

  public WantedEvents wantedEvents = WantedEvents.NONE;
  public int eventsLeftOut;

  /** Null: all keys. */
  public KeySet wanted;

  public int notWanted;

  /** By span: the links, as trace ID and span ID in hex. */
  public final List<List<String>> links = new ArrayList<>();

  @Override
  public KeySet wantedKeys() {
    return wanted;
  }

  @Override
  public WantedEvents wantedEvents() {
    return wantedEvents;
  }

  @Override
  public void resource(Attributes attributes) {
    resources.add(copy(attributes));
  }

  @Override
  public boolean span(SpanView span) {
    notWanted += span.attributesNotWanted;
    randomness.add(span.randomness);
    sizes.add(span.sizeBytes);
    eventsLeftOut += span.eventsLeftOut;
    events.add(
        IntStream.range(0, span.events.size()).mapToObj(i -> event(span.events, i)).toList());
    links.add(IntStream.range(0, span.links.size()).mapToObj(i -> link(span.links, i)).toList());
    spans.add(
        new Recorded(
            resources.getLast(),
            span.traceIdHigh,
            span.traceIdLow,
            span.spanId,
            span.parentSpanId,
            text(span.name, span.nameOffset, span.nameLength),
            span.kind,
            span.status,
            text(span.statusMessage, span.statusMessageOffset, span.statusMessageLength),
            span.startUnixNanos,
            span.durationNanos,
            span.samplingThreshold,
            copy(span.attributes)));
    return true;
  }

  @Override
  public void rejected(String reason) {
    rejected.add(reason);
  }

  public boolean isEmpty() {
    return resources.isEmpty() && spans.isEmpty() && rejected.isEmpty();
  }

  private static String link(SpanLinks links, int i) {
    return "%016x%016x %016x".formatted(links.traceIdHigh(i), links.traceIdLow(i), links.spanId(i));
  }

  private static Map.Entry<String, Map<String, String>> event(SpanEvents events, int i) {
    return Map.entry(
        text(events.name(i), events.nameOffset(i), events.nameLength(i)),
        copy(events.attributes(), events.firstAttribute(i), events.firstAttribute(i + 1)));
  }

  private static Map<String, String> copy(Attributes attributes) {
    return copy(attributes, 0, attributes.size());
  }

  private static Map<String, String> copy(Attributes attributes, int from, int to) {
    Map<String, String> copy = new LinkedHashMap<>();
    for (int i = from; i < to; i++) {
      copy.put(
          text(attributes.key(i), attributes.keyOffset(i), attributes.keyLength(i)),
          text(attributes.value(i), attributes.valueOffset(i), attributes.valueLength(i)));
    }
    return copy;
  }

  private static String text(byte[] bytes, int offset, int length) {
    return length == 0 ? "" : new String(bytes, offset, length, StandardCharsets.UTF_8);
  }
}
