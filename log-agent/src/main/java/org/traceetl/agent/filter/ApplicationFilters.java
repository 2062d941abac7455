package org.traceetl.agent.filter;

import org.traceetl.agent.config.FilterRules.Limits;
import org.traceetl.agent.flow.SpanView;

/** The filters of one application. Immutable; {@link SpanFilter} applies them. */
public final class ApplicationFilters {
  private final DropRule[] drop;
  // Null for none.
  final SampleRule sample;
  // Keys that are sent; null for all.
  final TextPattern[] spanKeys;
  final TextPattern[] resourceKeys;
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
