package org.traceetl.agent.route;

import java.util.Arrays;
import org.traceetl.agent.flow.SpanView;
import org.traceetl.proto.NameTemplate;

/**
 * The hash of what will be a span's series: of its name as servers count it, without identifiers,
 * so that {@code /users/1} and {@code /users/2} go to one queue. What names became is remembered by
 * their hashes, in a table of fixed size. One owner thread.
 */
public final class SeriesHash {
  private static final int SLOTS = 1 << 10;

  private final NameTemplate template = new NameTemplate();
  // By the lower bits of the hash of the name as it is: that hash, and the one that counts.
  private final long[] names = new long[SLOTS];
  private final long[] series = new long[SLOTS];

  /** One that remembers nothing yet. */
  public SeriesHash() {
    // No hash that belongs into the slot.
    Arrays.setAll(names, slot -> ~slot);
  }

  /** The series, see {@link RouteHash}. */
  long of(long application, SpanView span) {
    long name =
        RouteHash.series(
            application, span.name, span.nameOffset, span.nameLength, span.kind, span.status);
    int slot = (int) name & SLOTS - 1;
    if (names[slot] != name) {
      series[slot] = withoutIdentifiers(application, span, name);
      names[slot] = name;
    }
    return series[slot];
  }

  private long withoutIdentifiers(long application, SpanView span, long name) {
    int length = template.write(span.name, span.nameOffset, span.nameLength);
    return length == NameTemplate.UNCHANGED
        ? name
        : RouteHash.series(application, template.buffer(), 0, length, span.kind, span.status);
  }
}
