package org.traceetl.server.ozhera;

import java.util.function.Supplier;
import org.traceetl.server.decode.MappedProfile;
import org.traceetl.server.decode.SpanMapping;

/** Makes series as OzHera has them: each type of spans with buckets of its own. */
public final class OzheraSeries implements MappedProfile {
  private static final double NANOS_PER_MILLI = 1e6;

  private final Supplier<OzheraRules> rules;

  /**
   * @param rules gives what is in force; asked once a batch, by any thread
   */
  public OzheraSeries(Supplier<OzheraRules> rules) {
    this.rules = rules;
  }

  @Override
  public SpanMapping newMapping() {
    return new OzheraMapping(rules);
  }

  @Override
  public long[] boundsNanos(int kind) {
    SpanType type = SpanType.of(kind);
    // A kind that no span has: any bounds will do.
    return boundsNanos(type == null ? SpanType.HTTP_SERVER : type);
  }

  /** Upper bounds of the finite buckets of a type's histograms, nanoseconds, rising. */
  public static long[] boundsNanos(SpanType type) {
    return type.boundsMillis().stream()
        .mapToLong(millis -> Math.round(millis * NANOS_PER_MILLI))
        .toArray();
  }
}
