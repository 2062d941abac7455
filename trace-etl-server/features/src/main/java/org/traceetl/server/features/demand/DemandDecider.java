package org.traceetl.server.features.demand;

import java.io.IOException;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.traceetl.common.Clocks;
import org.traceetl.common.Reason;
import org.traceetl.proto.Demand;
import org.traceetl.proto.Demand.Part;
import org.traceetl.server.decisions.Decider;
import org.traceetl.server.decisions.DecisionLog;
import org.traceetl.server.series.SpanNeeds;
import org.traceetl.server.window.SealedWindow;

/**
 * Publishes what this server needs of spans. Every server does so, not only the deciding one: each
 * adds the part of its configuration, renews it, and removes parts that no server renews. If two
 * servers write at the same time, the one whose record is not in force tries again at the next
 * look.
 *
 * <p>Ages of parts are measured by this server's monotonic clock since it first saw them, so a
 * wrong wall clock neither expires nor keeps a part.
 *
 * <p>Concurrency: one thread reads and writes, and owns all state, except the published picture.
 */
public final class DemandDecider extends Decider<Demand> {
  private static final Logger LOG = LoggerFactory.getLogger(DemandDecider.class);

  /** Age at which a server renews its part. */
  static final Duration RENEWED_AFTER = Duration.ofMinutes(5);

  /** Age at which a server removes the part of another configuration. */
  static final Duration EXPIRES_AFTER = Duration.ofMinutes(15);

  /** Interval of looks until the first success: until then agents do not know what to send. */
  private static final long FIRST_NANOS = TimeUnit.SECONDS.toNanos(1);

  /** Interval of looks until the rules in force are known. */
  private static final long RULES_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

  /** When this server first saw a part as it is in the record. */
  private record Sighting(Part part, long nanos) {}

  private final Supplier<SpanNeeds> needs;
  private final Function<SpanNeeds, OwnPart> partOf;
  private final Consumer<Demand> formats;
  private final Runnable withoutTopic;
  private final Duration interval;
  private volatile Demand current = Demand.NONE;

  /** This server's part as of the latest look; null before the first. */
  private volatile OwnPart own;

  // Confined to the thread.

  private final Map<String, Sighting> sightings = new HashMap<>();

  /** What this server's part was made of. */
  private SpanNeeds needsOfOwn;

  private boolean looked;

  /**
   * Creates a decider that is not started.
   *
   * @param topic topic of the record
   * @param interval interval of looks; shortened to that of renewals
   * @param needs returns what rules need of spans; null if it is not known yet. Each change makes
   *     another part. The previous one stays until it expires, as other servers may still need it
   * @param partOf returns this server's part with these needs
   * @param formats receives the demand after each successful look, which shows the formats that all
   *     servers read
   * @param withoutTopic runs when a look finds that the topic does not exist
   */
  DemandDecider(
      String topic,
      Duration interval,
      Supplier<SpanNeeds> needs,
      Function<SpanNeeds, OwnPart> partOf,
      DecisionLog decisions,
      Consumer<Demand> formats,
      Runnable withoutTopic,
      Clocks clocks) {
    super(
        "trace-demand",
        topic,
        Demand.FORMAT,
        epoch -> new Demand(epoch, epoch, Map.of()),
        Duration.ZERO,
        decisions,
        clocks);
    this.needs = needs;
    this.partOf = partOf;
    this.formats = formats;
    this.withoutTopic = withoutTopic;
    this.interval = interval.compareTo(RENEWED_AFTER) < 0 ? interval : RENEWED_AFTER;
  }

  /** Returns the demand as of the latest look. Thread-safe. */
  public Demand current() {
    return current;
  }

  /**
   * Returns the fingerprint of this server's part as of the latest look; empty before the first.
   * Thread-safe.
   */
  String fingerprint() {
    OwnPart part = own;
    return part == null ? "" : part.fingerprint();
  }

  /** Windows do not change what this server needs. */
  @Override
  public void window(SealedWindow window) {}

  @Override
  protected void adopted(Demand now) {
    Map<String, Part> parts = now.parts();
    sightings.keySet().retainAll(parts.keySet());
    parts.forEach((fingerprint, part) -> {
      Sighting seen = sightings.get(fingerprint);
      if (seen == null || !seen.part.equals(part)) {
        sightings.put(fingerprint, new Sighting(part, nanoTime.getAsLong()));
      }
    });
  }

  @Override
  protected long look() throws InterruptedException {
    SpanNeeds inForce = needs.get();
    if (inForce == null) {
      // A demand by the configuration alone would stay in force until it expires.
      return RULES_NANOS;
    }
    if (!inForce.equals(needsOfOwn)) {
      own = partOf.apply(inForce);
      needsOfOwn = inForce;
    }
    try {
      looked |= update();
    } catch (IOException e) {
      if (looked && throttle.permits()) {
        LOG.warn("Could not publish the demand; the server retries: {}", Reason.of(e));
      }
    }
    current = published.current();
    return looked ? interval.toNanos() : Math.min(interval.toNanos(), FIRST_NANOS);
  }

  /** Returns whether the name server knows this topic or the span topic. */
  private boolean update() throws IOException, InterruptedException {
    if (!published.find()) {
      if (decisions.queues().isEmpty()) {
        return false;
      }
      // Asks again: a broker with both topics may have registered since the first request.
      if (!published.find()) {
        withoutTopic.run();
        return true;
      }
    }
    // An unread record may be in force; writing without it would remove its parts.
    if (!published.read()) {
      return true;
    }
    Map<String, Part> kept = unexpired();
    boolean full = kept.size() == Demand.MAX_PARTS && !kept.containsKey(own.fingerprint());
    if (full && throttle.permits()) {
      LOG.warn(
          "Agents do not know what this server needs of spans: servers of {} other configurations"
              + " have published their demands within {} min",
          Demand.MAX_PARTS,
          EXPIRES_AFTER.toMinutes());
    }
    try {
      if (isOwnFresh() || full) {
        published.repeat(true);
      } else {
        publish(kept);
      }
    } finally {
      // Also if the record that was read cannot be followed by one of this server.
      formats.accept(published.current());
    }
    return true;
  }

  private Map<String, Part> unexpired() {
    Map<String, Part> kept = new HashMap<>(published.current().parts());
    kept.keySet()
        .removeIf(fingerprint ->
            !fingerprint.equals(own.fingerprint()) && isOlder(fingerprint, EXPIRES_AFTER));
    return kept;
  }

  private boolean isOwnFresh() {
    Part part = published.current().parts().get(own.fingerprint());
    return part != null
        && part.sameContent(own.part())
        && !isOlder(own.fingerprint(), RENEWED_AFTER);
  }

  private boolean isOlder(String fingerprint, Duration age) {
    return nanoTime.getAsLong() - sightings.get(fingerprint).nanos >= age.toNanos();
  }

  private void publish(Map<String, Part> parts) throws IOException, InterruptedException {
    long epoch = published.nextEpoch();
    Part before = parts.get(own.fingerprint());
    boolean same = before != null && before.sameContent(own.part());
    parts.put(
        own.fingerprint(), own.part().at(clock.millis(), same ? before.changedEpoch() : epoch));
    Demand next = new Demand(epoch, clock.millis(), parts);
    if (published.put(next) && !same) {
      LOG.info(
          "Published what this server needs of spans; epoch={}, fingerprint={}, configurations={}",
          epoch,
          own.fingerprint(),
          parts.size());
    }
  }
}
