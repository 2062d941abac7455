package org.traceetl.server.ozhera.delta.series;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.HashMap;
import java.util.Map;
import org.traceetl.server.ozhera.OzheraLabels;
import org.traceetl.server.ozhera.SpanType;
import org.traceetl.server.ozhera.delta.series.LabelSet.Role;
import org.traceetl.server.window.SeriesDefinition;

/**
 * The label sets of series, each stored once while a series uses it. An undelivered answer may keep
 * an old one for longer; then two equal ones exist. Not thread-safe.
 */
public final class LabelSets {
  private final Map<LabelSet, LabelSet> sets = new HashMap<>();

  /** All label sets in use. */
  public int size() {
    return sets.size();
  }

  /**
   * Returns the label sets that a series adds to.
   *
   * @param id ID of the series
   * @return null for an unknown type, which a later version of the server may have written
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

  /** Reports the end of a series. */
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
