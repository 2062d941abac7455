package org.traceetl.agent.filter;

import java.util.ArrayList;
import java.util.List;
import org.traceetl.agent.config.FilterRules.Limits;
import org.traceetl.agent.flow.KeySet;
import org.traceetl.agent.flow.SpanView;
import org.traceetl.common.WildcardPattern;

/** The filters of one application. Immutable; {@link AgentSpanFilter} applies them. */
public final class ApplicationFilters {
  /** Approximate heap bytes without rules and keys. */
  private static final int OVERHEAD_BYTES = 256;

  private static final int KEY_BYTES = 64;

  private final DropRule[] drop;
  // Null if there is none.
  final SampleRule sample;
  // Allowed keys; null for all.
  final WildcardPattern[] spanKeys;
  final WildcardPattern[] resourceKeys;
  // Span attribute keys that are sent or that a rule reads; null for all.
  private final KeySet wantedKeys;
  private final int sizeBytes;
  final Limits limits;
  final Redactor[] values;
  final Redactor[] names;
  final Redactor[] statusMessages;
  // Whether spans or resources may be changed.
  private final boolean changing;

  ApplicationFilters(
      DropRule[] drop,
      SampleRule sample,
      WildcardPattern[] spanKeys,
      WildcardPattern[] resourceKeys,
      Limits limits,
      Redactor[] values,
      Redactor[] names,
      Redactor[] statusMessages) {
    this.drop = drop;
    this.sample = sample;
    this.spanKeys = spanKeys;
    this.resourceKeys = resourceKeys;
    List<byte[]> keys = wantedKeys(drop, spanKeys);
    wantedKeys = keys == null ? null : new KeySet(keys);
    sizeBytes =
        OVERHEAD_BYTES
            + drop.length * 8
            + (keys == null ? 0 : keys.stream().mapToInt(key -> KEY_BYTES + key.length).sum());
    this.limits = limits;
    this.values = values;
    this.names = names;
    this.statusMessages = statusMessages;
    changing =
        spanKeys != null
            || resourceKeys != null
            || !limits.equals(Limits.NONE)
            || values.length + names.length + statusMessages.length > 0;
  }

  boolean areNone() {
    return drop.length == 0 && sample == null && !changing;
  }

  private static List<byte[]> wantedKeys(DropRule[] drop, WildcardPattern[] spanKeys) {
    List<byte[]> keys = new ArrayList<>();
    boolean known = addKeys(spanKeys, keys) & addKeys(drop, keys);
    return known ? keys : null;
  }

  /** Adds the keys that the rules read or keep; returns false if they cannot be listed. */
  private static boolean addKeys(DropRule[] drop, List<byte[]> keys) {
    boolean known = true;
    for (DropRule rule : drop) {
      keys.addAll(List.of(rule.keys));
      known &= !rule.measured || addKeys(rule.dimensions, keys);
    }
    return known;
  }

  /** Adds the keys that match; returns false if they cannot be listed. */
  private static boolean addKeys(WildcardPattern[] patterns, List<byte[]> keys) {
    if (patterns == null) {
      return false;
    }
    for (WildcardPattern pattern : patterns) {
      if (pattern.literal() == null) {
        return false;
      }
      keys.add(pattern.literal());
    }
    return true;
  }

  /**
   * Returns the span attribute keys that are sent or that a rule reads. Null for all, also if
   * patterns match keys that cannot be listed.
   */
  public KeySet wantedKeys() {
    return wantedKeys;
  }

  /**
   * Returns the span attribute keys that rules read, if other attributes are sent unchanged and not
   * counted. Null if the filters may need any attribute.
   */
  public List<byte[]> readKeys() {
    if (spanKeys != null
        || limits.attributes() != Limits.NONE.attributes()
        || limits.valueBytes() != Limits.NONE.valueBytes()) {
      return null;
    }
    List<byte[]> keys = new ArrayList<>();
    boolean known = addKeys(drop, keys);
    for (Redactor redactor : values) {
      known &= addKeys(redactor.keys, keys);
    }
    return known ? keys : null;
  }

  /** Returns the approximate heap bytes, without the shared rules. */
  public int sizeBytes() {
    return sizeBytes;
  }

  /** Returns whether spans or resources may be changed. */
  public boolean areChanging() {
    return changing;
  }

  /** Returns the first drop rule that matches the span, or null. */
  DropRule dropRule(SpanView span) {
    for (DropRule rule : drop) {
      if (rule.matches(span)) {
        return rule;
      }
    }
    return null;
  }
}
