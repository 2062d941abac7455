package org.traceetl.agent.source.ring;

import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.Locale;
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

  final LongAdder attributesLeftOut = new LongAdder();
  final LongAdder droppedRingFull = new LongAdder();
  final LongAdder droppedTooLarge = new LongAdder();
  final LongAdder claimsAbandoned = new LongAdder();
  final LongAdder wakes = new LongAdder();
  private final Map<GivenUp, LongAdder> givenUp = new EnumMap<>(GivenUp.class);

  volatile int reading;
  volatile int waiting;
  volatile int unread;

  RingMetrics() {
    for (GivenUp reason : GivenUp.values()) {
      givenUp.put(reason, new LongAdder());
    }
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
    Map<String, DoubleSupplier> reasons = new LinkedHashMap<>();
    givenUp.forEach(
        (reason, count) -> reasons.put(reason.name().toLowerCase(Locale.ROOT), count::sum));
    counter(
        "rings_given_up",
        "Rings that the agent stopped reading because of an error, by reason.",
        "reason",
        reasons);
    Map<String, DoubleSupplier> drops = new LinkedHashMap<>();
    drops.put("ring_full", droppedRingFull::sum);
    drops.put("too_large", droppedTooLarge::sum);
    counter(
        "ring_spans_dropped",
        "Spans that applications report as dropped because they could not write them into their"
            + " rings, by reason.",
        "reason",
        drops);
    counter(
        "ring_claims_abandoned",
        "Incomplete records in rings whose application ended while it wrote.",
        "",
        Map.of("", claimsAbandoned::sum));
    counter(
        "ring_attributes_left_out",
        "Attributes of spans in rings that were left out because they were too many or too long.",
        "",
        Map.of("", attributesLeftOut::sum));
    counter(
        "ring_wakes",
        "Wake-ups of the ring reader by applications, after a time without spans.",
        "",
        Map.of("", wakes::sum));
  }

  void giveUp(GivenUp reason) {
    givenUp.get(reason).increment();
  }

  long givenUp(GivenUp reason) {
    return givenUp.get(reason).sum();
  }
}
