package org.traceetl.server.features.backfill;

import java.util.Arrays;
import org.traceetl.server.decode.BatchDecoder;
import org.traceetl.server.expose.SpanNaming;
import org.traceetl.server.window.SeriesDefinition;

/** A series of all queues: its labels without the queue's, and its families. Immutable. */
final class SeriesKey implements Comparable<SeriesKey> {
  private final SeriesDefinition definition;
  private final byte[] labels;
  private final long families;
  private final boolean isOfSpans;
  private final boolean isOverflow;
  private final boolean lacksDimension;
  private final boolean isNew;
  private final int hash;

  /**
   * @param news what live series have only from the seam on
   */
  SeriesKey(SeriesDefinition definition, SpanNaming naming, News news) {
    this.definition = definition;
    labels = naming.labels(definition, null);
    families = naming.families(definition);
    isOfSpans = (families & naming.families().getFirst().bit()) != 0;
    isOverflow = definition.overflow();
    lacksDimension =
        definition.values().stream()
            .skip(SeriesDefinition.FIXED_DIMENSIONS)
            .anyMatch(BatchDecoder.NOT_SENT::equals);
    isNew = news.has(definition);
    hash = 31 * Arrays.hashCode(labels) + Long.hashCode(families);
  }

  /** Returns its values; its number and created time mean nothing. */
  SeriesDefinition definition() {
    return definition;
  }

  /** Returns the labels without braces. Must not be modified. */
  byte[] labels() {
    return labels;
  }

  /** Returns the families as bits. */
  long families() {
    return families;
  }

  /** Returns whether it counts spans, not their events. */
  boolean isOfSpans() {
    return isOfSpans;
  }

  boolean isOverflow() {
    return isOverflow;
  }

  /** Returns whether agents did not send the value of a dimension. */
  boolean lacksDimension() {
    return lacksDimension;
  }

  /** Returns whether live series count its spans only from the seam on. */
  boolean isNew() {
    return isNew;
  }

  @Override
  public int compareTo(SeriesKey other) {
    int byLabels = Arrays.compareUnsigned(labels, other.labels);
    return byLabels != 0 ? byLabels : Long.compareUnsigned(families, other.families);
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof SeriesKey key && compareTo(key) == 0;
  }

  @Override
  public int hashCode() {
    return hash;
  }
}
