package org.traceetl.server.expose;

/** The families of a page, in its order. */
enum Family {
  CALLS(SeriesBlock.SERIES),
  DURATION(16),
  /** Only where events are counted. */
  EVENTS(SeriesBlock.SERIES);

  private final int sectionSeries;

  Family(int sectionSeries) {
    this.sectionSeries = sectionSeries;
  }

  /**
   * Series of a section. So many that its text, with usual labels and bounds, is somewhat less than
   * {@link SectionWriter#PIECE_BYTES}: with fewer, more of the page stays when few series change;
   * with more, a piece is compressed better and slower.
   */
  int sectionSeries() {
    return sectionSeries;
  }
}
