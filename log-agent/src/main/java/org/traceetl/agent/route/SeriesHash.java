package org.traceetl.agent.route;

import java.util.Arrays;
import org.traceetl.agent.flow.SpanView;
import org.traceetl.proto.NameJoiner;
import org.traceetl.proto.NameRules;
import org.traceetl.proto.NameTemplate;

/**
 * Computes the hash of a span's series: of its name without identifiers, joined by the learnt rules
 * of its application. So {@code /users/1} and {@code /users/2} go to one queue, as servers count
 * them. Results are cached by name hash in a table of fixed size. Confined to one thread.
 */
public final class SeriesHash {
  private static final int SLOTS = 1 << 10;

  private final NameTemplate template = new NameTemplate();
  private final NameJoiner joiner = new NameJoiner();
  // Slots by the lower bits of the hash of the unchanged name: that hash, and the series' hash.
  private final long[] names = new long[SLOTS];
  private final long[] series = new long[SLOTS];
  private long last;

  /** Creates an empty cache. */
  public SeriesHash() {
    forget();
  }

  /** Empties the cache; call after rules may have changed. */
  public void forget() {
    // A value that no hash of the slot can have.
    Arrays.setAll(names, slot -> ~slot);
  }

  /**
   * Returns the hash of the span's series, as defined by {@link RouteHash}.
   *
   * @param learnt the application's rules; null for none; call {@link #forget} before they change
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
    last = series[slot];
    return last;
  }

  /** Returns the hash that was computed last. */
  long last() {
    return last;
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
