package org.traceetl.server.features.graph;

import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import org.traceetl.server.edge.EdgeMeasure;
import org.traceetl.server.journal.QueueImage;
import org.traceetl.server.journal.format.DefinitionFormat;
import org.traceetl.server.window.SealedWindow;
import org.traceetl.server.window.SeriesDefinition;
import org.traceetl.server.window.WindowPanes;

/** The edges of a queue's series, and what each series measures. Not thread-safe. */
final class QueueEdges {
  private static final int INITIAL_SERIES = 64;

  private final Edges edges;

  /** Number of buckets of the sums. */
  private final int buckets;

  /** By series; null for an unknown series. */
  private Edge[] edgeOf = new Edge[INITIAL_SERIES];

  /** By series; undefined for an unknown series. */
  private EdgeMeasure[] measureOf = new EdgeMeasure[INITIAL_SERIES];

  QueueEdges(Edges edges, int buckets) {
    this.edges = edges;
    this.buckets = buckets;
  }

  /** Replaces all series. */
  void replace(QueueImage image) {
    for (int series = 0; series < edgeOf.length; series++) {
      evict(series);
    }
    image.definitions().forEach(this::create);
  }

  /** Adds a series. One with a measure that a later release may have written stays unknown. */
  void create(SeriesDefinition definition) {
    int series = definition.series();
    evict(series);
    String kind = definition.values().get(SeriesDefinition.SPAN_KIND);
    EdgeMeasure measure = kind == null ? null : EdgeMeasure.of(Integer.parseInt(kind));
    if (measure == null || series < 0 || series >= DefinitionFormat.MAX_SERIES) {
      return;
    }
    if (series >= edgeOf.length) {
      int capacity = Math.max(series + 1, edgeOf.length + edgeOf.length / 2);
      edgeOf = Arrays.copyOf(edgeOf, capacity);
      measureOf = Arrays.copyOf(measureOf, capacity);
    }
    edgeOf[series] = edges.retain(definition, measure);
    measureOf[series] = measure;
  }

  void evict(int series) {
    if (isKnown(series)) {
      edgeOf[series].series--;
      edgeOf[series] = null;
    }
  }

  private boolean isKnown(int series) {
    return series >= 0 && series < edgeOf.length && edgeOf[series] != null;
  }

  /** Returns the number of rows of a window without a known series. */
  int unknownRows(SealedWindow window) {
    int unknown = 0;
    for (int row = 0; row < window.rows(); row++) {
      unknown += isKnown(window.series()[row]) ? 0 : 1;
    }
    return unknown;
  }

  /**
   * Adds up the rows of a pane by edge.
   *
   * @param bucketsKnown whether the window has the buckets of the sums
   */
  Map<Edge, EdgeSums> sums(WindowPanes.Pane pane, SealedWindow window, boolean bucketsKnown) {
    Map<Edge, EdgeSums> sums = new HashMap<>();
    for (int i = 0; i < pane.rows().length; i++) {
      int series = window.series()[pane.rows()[i]];
      if (isKnown(series)) {
        sums.computeIfAbsent(edgeOf[series], absent -> new EdgeSums(buckets))
            .add(
                measureOf[series],
                pane.counts(),
                i * window.stride(),
                window.buckets(),
                bucketsKnown);
      }
    }
    return sums;
  }
}
