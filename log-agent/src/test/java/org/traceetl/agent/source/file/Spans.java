package org.traceetl.agent.source.file;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.traceetl.agent.flow.Attributes;
import org.traceetl.agent.flow.SpanSink;
import org.traceetl.agent.flow.SpanView;

/** Records a decoder's spans. */
final class Spans implements SpanSink {
  record Seen(
      Map<String, String> resource,
      String name,
      int kind,
      int status,
      long spanId,
      long parentSpanId,
      long startUnixNanos,
      long durationNanos,
      Map<String, String> attributes) {}

  final List<Seen> seen = new ArrayList<>();
  final List<String> rejected = new ArrayList<>();
  int resources;
  private Map<String, String> resource = Map.of();

  @Override
  public void resource(Attributes attributes) {
    resource = toMap(attributes);
    resources++;
  }

  @Override
  public void span(SpanView span) {
    seen.add(
        new Seen(
            resource,
            new String(span.name, span.nameOffset, span.nameLength, UTF_8),
            span.kind,
            span.status,
            span.spanId,
            span.parentSpanId,
            span.startUnixNanos,
            span.durationNanos,
            toMap(span.attributes)));
  }

  @Override
  public void rejected(String reason) {
    rejected.add(reason);
  }

  private static Map<String, String> toMap(Attributes attributes) {
    Map<String, String> map = new LinkedHashMap<>();
    for (int i = 0; i < attributes.size(); i++) {
      map.put(
          new String(attributes.key(i), attributes.keyOffset(i), attributes.keyLength(i), UTF_8),
          new String(
              attributes.value(i), attributes.valueOffset(i), attributes.valueLength(i), UTF_8));
    }
    return map;
  }
}
