package org.traceetl.agent.filter;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.Map;
import org.traceetl.agent.config.FilterRules.Drop;
import org.traceetl.agent.config.FilterRules.Keep;
import org.traceetl.agent.flow.Attributes;
import org.traceetl.agent.flow.SpanView;
import org.traceetl.common.WildcardPattern;

/** A rule that drops spans of an application, or measures them. Immutable. */
final class DropRule {
  private static final int STATUS_ERROR = 2;

  private final int kinds;
  private final WildcardPattern[] names;
  final byte[][] keys;
  private final WildcardPattern[] values;
  private final long slowNanos;
  final boolean measured;

  /** Keys that a measured span keeps; null for all. */
  final WildcardPattern[] dimensions;

  DropRule(Drop rule) {
    int bits = 0;
    for (int kind : rule.kinds()) {
      bits |= 1 << kind;
    }
    kinds = bits;
    names = WildcardPattern.unlessAll(rule.names());
    keys = new byte[rule.attributes().size()][];
    values = new WildcardPattern[keys.length];
    int i = 0;
    for (Map.Entry<String, String> attribute : rule.attributes().entrySet()) {
      keys[i] = attribute.getKey().getBytes(UTF_8);
      values[i++] = new WildcardPattern(attribute.getValue());
    }
    slowNanos = rule.slowNanos();
    measured = rule.keep() == Keep.METRICS;
    dimensions = WildcardPattern.unlessAll(rule.dimensions());
  }

  boolean matches(SpanView span) {
    return span.status != STATUS_ERROR
        && span.durationNanos < slowNanos
        && (kinds >>> span.kind & 1) != 0
        && WildcardPattern.anyMatches(names, span.name, span.nameOffset, span.nameLength)
        && attributesMatch(span.attributes);
  }

  private boolean attributesMatch(Attributes attributes) {
    for (int i = 0; i < keys.length; i++) {
      int at = attributes.find(keys[i]);
      if (at < 0
          || !values[i].matches(
              attributes.value(at), attributes.valueOffset(at), attributes.valueLength(at))) {
        return false;
      }
    }
    return true;
  }
}
