package org.traceetl.server.ozhera.delta;

/**
 * A series of a queue, and what it adds to.
 *
 * @param id rises from one series of a queue to the next; never used again
 * @param outcome as {@link org.traceetl.server.ozhera.SeriesLayout} has it
 * @param errors null unless its failed spans are counted by their code
 * @param unnamed null unless there is a histogram without methods
 */
record DeltaSeries(long id, int outcome, LabelSet named, LabelSet errors, LabelSet unnamed) {}
