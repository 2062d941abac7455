package org.traceetl.server.features.pages;

import org.traceetl.server.expose.Family;
import org.traceetl.server.expose.Format;

/** Writes series in one {@link Format}. Owned by the fold thread. */
interface SeriesForm {
  /** Writes what one family has of a series that there is. */
  void write(Family family, SeriesBlock block, int place, SectionWriter writer);

  /** Writes a counter with a value of its own. */
  void write(Family family, byte[] labels, long value, long createdMillis, SectionWriter writer);
}
