package org.traceetl.server.ozhera;

import java.util.function.Supplier;
import org.traceetl.server.decode.MappedProfile;
import org.traceetl.server.decode.SpanMapping;

/** Maps spans to OzHera's series; each type of spans has its own buckets. */
public final class OzheraSeries implements MappedProfile {
  private static final double NANOS_PER_MILLI = 1e6;

  private final Supplier<OzheraRules> rules;

  /**
   * @param rules returns the rules in force; called once for each batch, by any thread
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
    // No span has this kind, so any bounds are valid.
    return boundsNanos(type == null ? SpanType.HTTP_SERVER : type);
  }

  /**
   * Returns the upper bounds of the finite buckets of a type's histograms in nanoseconds,
   * ascending.
   */
  public static long[] boundsNanos(SpanType type) {
    return type.boundsMillis().stream()
        .mapToLong(millis -> Math.round(millis * NANOS_PER_MILLI))
        .toArray();
  }
}
