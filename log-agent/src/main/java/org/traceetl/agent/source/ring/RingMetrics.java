package org.traceetl.agent.source.ring;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.DoubleSupplier;
import org.traceetl.agent.telemetry.MetricSet;

/** Metrics of the ring source. */
public final class RingMetrics extends MetricSet {
  /** Why the agent stopped reading a ring. */
  enum GivenUp {
    HEADER,
    /** It was cut, or its memory could not be read. */
    TRUNCATED,
    RESOURCE,
    POSITION,
    RECORD,
    DICTIONARY,
    /** It cannot be opened or mapped, or is not a regular file. */
    UNREADABLE,
    /** An error of the agent. */
    UNEXPECTED
  }

  /** Why an application dropped a span. */
  enum Drop {
    RING_FULL,
    TOO_LARGE
  }

  final LongAdder attributesLeftOut =
      adder(
          "ring_attributes_left_out",
          "Attributes of spans in rings that were left out because they were too many or too"
              + " long.");
  final LongAdder claimsAbandoned =
      adder(
          "ring_claims_abandoned",
          "Incomplete records in rings whose application ended while it wrote.");
  final LongAdder wakes =
      adder(
          "ring_wakes", "Wake-ups of the ring reader by applications, after a time without spans.");
  private final Map<Drop, LongAdder> dropped =
      adders(
          Drop.class,
          "ring_spans_dropped",
          "Spans that applications report as dropped because they could not write them into their"
              + " rings, by reason.");
  private final Map<GivenUp, LongAdder> givenUp =
      adders(
          GivenUp.class,
          "rings_given_up",
          "Rings that the agent stopped reading because of an error, by reason.");

  volatile int reading;
  volatile int waiting;
  volatile int unread;

  RingMetrics() {
    Map<String, DoubleSupplier> states = new LinkedHashMap<>();
    states.put("read", () -> reading);
    states.put("waiting", () -> waiting);
    states.put("given_up", () -> unread);
    gauge(
        "rings",
        "Rings of applications, by state: read, waiting because the limit of rings is reached,"
            + " or given up with the file still present.",
        "state",
        states);
  }

  void drop(Drop reason, long spans) {
    dropped.get(reason).add(spans);
  }

  long dropped(Drop reason) {
    return dropped.get(reason).sum();
  }

  void giveUp(GivenUp reason) {
    givenUp.get(reason).increment();
  }

  long givenUp(GivenUp reason) {
    return givenUp.get(reason).sum();
  }
}
