package org.traceetl.exporter.ring;

import java.util.ArrayList;
import java.util.List;

/** A span as it was read from a ring. */
public final class RingSpan {
  public long traceHigh;
  public long traceLow;
  public long id;
  public long parent;
  public long startNanos;
  public long durationNanos;
  public int kind;
  public int status;
  public long threshold;
  public long randomness;
  public String name;
  public String message;
  public List<Attribute> attributes;
  public final List<Event> events = new ArrayList<>();

  /** Trace ID, a slash and span ID of each link. */
  public final List<String> links = new ArrayList<>();

  /** The value of the attribute of this name, or null. */
  public Object attribute(String key) {
    for (Attribute attribute : attributes) {
      if (attribute.key().equals(key)) {
        return attribute.value();
      }
    }
    return null;
  }

  @Override
  public String toString() {
    return String.format("%016x%016x/%016x<%016x", traceHigh, traceLow, id, parent)
        + (" kind " + kind + " status " + status + " '" + message + "'")
        + (" [" + startNanos + " +" + durationNanos + "]")
        + (" th " + threshold + " rv " + randomness)
        + (" " + name + " " + attributes + " " + events + " " + links);
  }

  /** Arrays and bytes have their text behind a word that says what they are. */
  public record Attribute(String key, Object value) {}

  /** An event, so long after the span's start. */
  public record Event(String name, long afterStartNanos, List<Attribute> attributes) {}
}
