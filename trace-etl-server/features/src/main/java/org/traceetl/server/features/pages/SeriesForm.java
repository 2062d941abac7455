package org.traceetl.server.features.pages;

import org.traceetl.server.expose.Family;
import org.traceetl.server.expose.Format;

/** Writes series in one {@link Format}. Confined to the fold thread. */
interface SeriesForm {
  /** Writes the samples of one family for an existing series. */
  void write(Family family, SeriesBlock block, int place, SectionWriter writer);

  /** Writes a counter with the given value. */
  void write(Family family, byte[] labels, long value, long createdMillis, SectionWriter writer);
}
