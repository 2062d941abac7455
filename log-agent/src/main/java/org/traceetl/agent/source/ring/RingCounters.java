package org.traceetl.agent.source.ring;

import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.DoubleSupplier;
import org.traceetl.agent.telemetry.AgentMetrics;

/** What the source counts. */
final class RingCounters {
  /** Why a ring is not read any more. */
  enum GivenUp {
    HEADER,
    /** It was cut, or memory of it could not be had. */
    TRUNCATED,
    RESOURCE,
    POSITION,
    RECORD,
    DICTIONARY,
    /** It cannot be opened or mapped, or is no plain file. */
    UNREADABLE,
    /** The agent's own fault. */
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

  RingCounters() {
    for (GivenUp reason : GivenUp.values()) {
      givenUp.put(reason, new LongAdder());
    }
  }

  void giveUp(GivenUp reason) {
    givenUp.get(reason).increment();
  }

  void register(AgentMetrics metrics) {
    Map<String, DoubleSupplier> states = new LinkedHashMap<>();
    states.put("read", () -> reading);
    states.put("waiting", () -> waiting);
    states.put("given_up", () -> unread);
    metrics.gauge(
        "rings",
        "Rings of applications: that are read, that wait because as many are read as may be, and"
            + " that are given up and still there.",
        "state",
        states);
    Map<String, DoubleSupplier> reasons = new LinkedHashMap<>();
    givenUp.forEach(
        (reason, count) -> reasons.put(reason.name().toLowerCase(Locale.ROOT), count::sum));
    metrics.counter(
        "rings_given_up",
        "Rings that are not read any more because something is wrong with them, by reason.",
        "reason",
        reasons);
    Map<String, DoubleSupplier> drops = new LinkedHashMap<>();
    drops.put("ring_full", droppedRingFull::sum);
    drops.put("too_large", droppedTooLarge::sum);
    metrics.counter(
        "ring_spans_dropped",
        "Spans that applications could not write into their rings, as they say, by reason.",
        "reason",
        drops);
    metrics.counter(
        "ring_claims_abandoned",
        "Records that dead applications had begun to write.",
        "",
        Map.of("", claimsAbandoned::sum));
    metrics.counter(
        "ring_attributes_left_out",
        "Attributes of rings' spans left out because there were too many or they were too long.",
        "",
        Map.of("", attributesLeftOut::sum));
    metrics.counter(
        "ring_wakes",
        "Times that an application woke the agent, which slept because there were no spans.",
        "",
        Map.of("", wakes::sum));
  }
}
