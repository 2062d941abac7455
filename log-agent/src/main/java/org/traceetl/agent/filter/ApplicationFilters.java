package org.traceetl.agent.filter;

import java.util.ArrayList;
import java.util.List;
import org.traceetl.agent.config.FilterRules.Limits;
import org.traceetl.agent.flow.KeySet;
import org.traceetl.agent.flow.SpanView;

/** The filters of one application. Immutable; {@link AgentSpanFilter} applies them. */
public final class ApplicationFilters {
  /** What there is besides rules and keys, and besides the bytes of each key. */
  private static final int OVERHEAD_BYTES = 256;

  private static final int KEY_BYTES = 64;

  private final DropRule[] drop;
  // Null for none.
  final SampleRule sample;
  // Keys that are sent; null for all.
  final TextPattern[] spanKeys;
  final TextPattern[] resourceKeys;
  // Of spans' attributes, sent or looked at by a rule; null for all.
  private final KeySet wantedKeys;
  private final int sizeBytes;
  final Limits limits;
  final Redactor[] values;
  final Redactor[] names;
  final Redactor[] statusMessages;
  // Whether spans, and resources, may be sent otherwise than they came.
  private final boolean changing;

  ApplicationFilters(
      DropRule[] drop,
      SampleRule sample,
      TextPattern[] spanKeys,
      TextPattern[] resourceKeys,
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

  private static List<byte[]> wantedKeys(DropRule[] drop, TextPattern[] spanKeys) {
    List<byte[]> keys = new ArrayList<>();
    boolean known = addKeys(spanKeys, keys);
    for (DropRule rule : drop) {
      keys.addAll(List.of(rule.keys));
      known &= !rule.measured || addKeys(rule.dimensions, keys);
    }
    return known ? keys : null;
  }

  /** Adds the keys that match; false if they cannot be named. */
  private static boolean addKeys(TextPattern[] patterns, List<byte[]> keys) {
    if (patterns == null) {
      return false;
    }
    for (TextPattern pattern : patterns) {
      if (pattern.literal() == null) {
        return false;
      }
      keys.add(pattern.literal());
    }
    return true;
  }

  /**
   * The keys of spans' attributes that are of use: those sent, and those that a rule looks at. Null
   * for all, also where patterns stand for keys that nobody can list.
   */
  public KeySet wantedKeys() {
    return wantedKeys;
  }

  /** About what they take of the heap, without the rules that they share with others. */
  public int sizeBytes() {
    return sizeBytes;
  }

  /** Whether texts of spans and of the resource may have to be changed. */
  public boolean areChanging() {
    return changing;
  }

  /** The first rule by which the span need not be sent, or null. */
  DropRule dropRule(SpanView span) {
    for (DropRule rule : drop) {
      if (rule.matches(span)) {
        return rule;
      }
    }
    return null;
  }
}
