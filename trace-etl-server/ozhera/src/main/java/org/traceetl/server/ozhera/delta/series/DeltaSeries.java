package org.traceetl.server.ozhera.delta.series;

/**
 * A series of a queue and the label sets that it adds to.
 *
 * @param id ascending within a queue; never reused
 * @param outcome outcome as in {@link org.traceetl.server.ozhera.SeriesLayout}
 * @param errors null unless failed spans are counted by error code
 * @param unnamed null unless a histogram lacks the method label
 */
record DeltaSeries(long id, int outcome, LabelSet named, LabelSet errors, LabelSet unnamed) {}
