package org.traceetl.server.ozhera.delta;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.HashMap;
import java.util.Map;
import org.traceetl.server.ozhera.OzheraLabels;
import org.traceetl.server.ozhera.SpanType;
import org.traceetl.server.ozhera.delta.LabelSet.Role;
import org.traceetl.server.window.SeriesDefinition;

/**
 * The labels of series, each kept once for as long as a series has it. What a scraper was not given
 * yet may keep one for longer; then there may be two of it, which are equal. One thread at a time.
 */
final class LabelSets {
  private final Map<LabelSet, LabelSet> sets = new HashMap<>();

  /** What there are. */
  int size() {
    return sets.size();
  }

  /**
   * What a series adds to.
   *
   * @param id of the series
   * @return null if it is of no type that there is, as one of another server's version may be
   */
  DeltaSeries series(long id, SeriesDefinition definition) {
    OzheraLabels labels = OzheraLabels.of(definition);
    if (labels == null) {
      return null;
    }
    SpanType type = labels.type();
    String named = labels.named();
    return new DeltaSeries(
        id,
        labels.outcome(),
        use(type, Role.NAMED, named),
        labels.isCoded() ? use(type, Role.ERRORS, labels.coded()) : null,
        labels.metrics().withoutName() ? use(type, Role.UNNAMED, labels.unnamed()) : null);
  }

  private LabelSet use(SpanType type, Role role, String labels) {
    LabelSet set = new LabelSet(type, role, labels.getBytes(UTF_8));
    LabelSet known = sets.putIfAbsent(set, set);
    LabelSet used = known == null ? set : known;
    used.users++;
    return used;
  }

  /** A series has ended. */
  void release(DeltaSeries series) {
    release(series.named());
    release(series.errors());
    release(series.unnamed());
  }

  private void release(LabelSet set) {
    if (set != null && --set.users == 0) {
      sets.remove(set);
    }
  }
}
