package org.traceetl.server.features.pages;

import org.traceetl.server.expose.Family;
import org.traceetl.server.expose.Format;
import org.traceetl.server.expose.Naming;

/** Writes series in one {@link Format}. Confined to the fold thread. */
interface SeriesForm {
  /** Returns the naming of all families. */
  Naming naming();

  /** Writes the samples of one family for an existing series. */
  default void write(Family family, SeriesBlock block, int place, SectionWriter writer) {
    if (family.isHistogram()) {
      writeHistogram(family, block, place, writer);
    } else if (family.isSum()) {
      writeSum(family, block, place, writer);
    } else {
      write(
          family,
          block.labels(place),
          family == naming().size() ? block.size(place) : block.count(place),
          block.createdMillis(place),
          writer);
    }
  }

  /** Writes the histogram of an existing series. */
  void writeHistogram(Family family, SeriesBlock block, int place, SectionWriter writer);

  /** Writes the counter of the values' sum of an existing series. */
  void writeSum(Family family, SeriesBlock block, int place, SectionWriter writer);

  /** Writes a counter with the given value. */
  void write(Family family, byte[] labels, long value, long createdMillis, SectionWriter writer);
}
