package org.traceetl.agent.route;

import java.util.Arrays;
import org.traceetl.agent.flow.SpanView;
import org.traceetl.proto.NameJoiner;
import org.traceetl.proto.NameRules;
import org.traceetl.proto.NameTemplate;

/**
 * The hash of what will be a span's series: of its name as servers count it, without identifiers
 * and joined by the learnt rules of its application, so that {@code /users/1} and {@code /users/2}
 * go to one queue. What names became is remembered by their hashes, in a table of fixed size, until
 * the rules change. One owner thread.
 */
public final class SeriesHash {
  private static final int SLOTS = 1 << 10;

  private final NameTemplate template = new NameTemplate();
  private final NameJoiner joiner = new NameJoiner();
  // By the lower bits of the hash of the name as it is: that hash, and the one that counts.
  private final long[] names = new long[SLOTS];
  private final long[] series = new long[SLOTS];

  /** One that remembers nothing yet. */
  public SeriesHash() {
    forget();
  }

  /** Remembers nothing any more: rules may have changed. */
  public void forget() {
    // No hash that belongs into the slot.
    Arrays.setAll(names, slot -> ~slot);
  }

  /**
   * The series, see {@link RouteHash}.
   *
   * @param learnt of the application; null for none. The same for each span of the application, or
   *     {@link #forget} comes first
   */
  long of(long application, NameRules learnt, SpanView span) {
    long name =
        RouteHash.series(
            application, span.name, span.nameOffset, span.nameLength, span.kind, span.status);
    int slot = (int) name & SLOTS - 1;
    if (names[slot] != name) {
      series[slot] = withoutIdentifiers(application, learnt, span, name);
      names[slot] = name;
    }
    return series[slot];
  }

  private long withoutIdentifiers(long application, NameRules learnt, SpanView span, long asItIs) {
    byte[] name = span.name;
    int offset = span.nameOffset;
    int length = span.nameLength;
    int written = template.write(name, offset, length);
    if (written != NameTemplate.UNCHANGED) {
      name = template.buffer();
      offset = 0;
      length = written;
    }
    int joined = learnt == null ? NameJoiner.UNCHANGED : joiner.write(learnt, name, offset, length);
    if (joined != NameJoiner.UNCHANGED) {
      name = joiner.buffer();
      offset = 0;
      length = joined;
    }
    return name == span.name
        ? asItIs
        : RouteHash.series(application, name, offset, length, span.kind, span.status);
  }
}
