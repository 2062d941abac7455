package org.traceetl.agent.pipeline;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.LongSupplier;
import org.traceetl.agent.config.PipelineConfig;
import org.traceetl.agent.edge.DimensionValues;
import org.traceetl.agent.edge.EdgeAttributes;
import org.traceetl.agent.edge.EdgeRules;
import org.traceetl.agent.edge.Edges;
import org.traceetl.agent.edge.HalfEdge;
import org.traceetl.agent.flow.Attributes;
import org.traceetl.agent.flow.SpanView;
import org.traceetl.agent.route.BrokerQueue;
import org.traceetl.agent.route.EdgeRoute;
import org.traceetl.proto.EdgeBatchWriter;
import org.traceetl.proto.EdgeKey;

/**
 * Collects the half-edges of accepted spans in a batch for each queue. A batch has those of all
 * applications. Its half-edges are in the frame of their spans, so both are sent, or neither.
 * Confined to the pipeline thread.
 */
final class EdgeBatches {
  private static final int STATUS_ERROR = 2;
  private static final int NONE = -1;

  /** Instead of an index: the resource's value is not in the dictionary yet. */
  private static final int NOT_INTERNED = -2;

  /** Most bytes of the half-edge of a link, apart from its head: key, check, duration, time. */
  private static final int MAX_LINK_BYTES = 30;

  /** Most bytes of the indexes of a dimension in a head. */
  private static final int MAX_PAIR_BYTES = 10;

  /** Receives a closed batch. */
  @FunctionalInterface
  interface Closing {
    /**
     * @param lastEndNanos the latest of the dates of its spans, nanoseconds since 1970
     */
    void closed(BrokerQueue queue, EdgeBatchWriter batch, long lastEndNanos);
  }

  private final int mostHalves;
  private final int mostBytes;
  private final LongSupplier nanoClock;
  private final Closing closing;
  private final HalfEdge half = new HalfEdge();
  private EdgeRoute route = EdgeRoute.NONE;
  private EdgeAttributes keys = EdgeAttributes.NO_DIMENSIONS;
  // Of the current span.
  private DimensionValues values = DimensionValues.NONE;
  // Dictionary indexes of the current head: key, value, key, value.
  private int[] pairs = new int[0];
  // Most bytes that dimensions add to a batch for a head.
  private long dimensionBytes;
  // By place of the queue in the route; null for a queue that has had no half-edge.
  private final List<Open> batches = new ArrayList<>();
  private long bytes;
  // Batches of the payload that were closed because of the times of its spans.
  private int separated;
  private long trimDueNanos;

  private static final class Open {
    private final EdgeBatchWriter writer = new EdgeBatchWriter();
    private long bytes;
    private long firstEndNanos;
    private long lastEndNanos;
    // Whether it has had half-edges since the last trimming.
    private boolean isUsed;
    // The resource of the last half-edge, and the indexes of its texts; null before the first.
    private RoutedResource resource;
    private int application;
    private int namespace;
    // By dimension: the index of its key, and of the resource's value.
    private final int[] keyIndexes;
    private final int[] valueIndexes;

    Open(int dimensions) {
      keyIndexes = new int[dimensions];
      valueIndexes = new int[dimensions];
    }

    private void begin() {
      writer.begin();
      bytes = 0;
      lastEndNanos = 0;
      resource = null;
      Arrays.fill(keyIndexes, NONE);
    }

    private void turnTo(RoutedResource now) {
      if (now == resource) {
        return;
      }
      RoutedResource sent = now.sent();
      application =
          writer.intern(
              sent.applicationBytes(), sent.applicationOffset(), sent.applicationLength());
      namespace =
          sent.namespaceLength() == 0
              ? NONE
              : writer.intern(
                  sent.namespaceBytes(), sent.namespaceOffset(), sent.namespaceLength());
      Arrays.fill(valueIndexes, NOT_INTERNED);
      resource = now;
    }

    private int key(int dimension, EdgeAttributes keys) {
      if (keyIndexes[dimension] == NONE) {
        byte[] key = keys.dimension(dimension);
        keyIndexes[dimension] = writer.intern(key, 0, key.length);
      }
      return keyIndexes[dimension];
    }

    /** Returns the index of the resource's value, or {@link #NONE}. */
    private int value(int dimension) {
      if (valueIndexes[dimension] == NOT_INTERNED) {
        valueIndexes[dimension] = intern(dimension, resource.dimensions());
      }
      return valueIndexes[dimension];
    }

    private int intern(int dimension, DimensionValues values) {
      return values.length(dimension) <= 0
          ? NONE
          : writer.intern(
              values.bytes(dimension), values.offset(dimension), values.length(dimension));
    }
  }

  EdgeBatches(PipelineConfig config, LongSupplier nanoClock, Closing closing) {
    mostHalves = config.batchSpans();
    mostBytes = config.batchBytes();
    this.nanoClock = nanoClock;
    this.closing = closing;
    trimDueNanos = nanoClock.getAsLong() + BatchPool.UNUSED_NANOS;
  }

  /** Sets the queues and the dimensions. Requires that no batch has half-edges. */
  void use(Edges now) {
    route = now.route();
    batches.clear();
    route.queues().forEach(queue -> batches.add(null));
    keys = now.attributes();
    values = new DimensionValues(keys.dimensions());
    pairs = new int[2 * keys.dimensions()];
    dimensionBytes = 0;
    for (int dimension = 0; dimension < keys.dimensions(); dimension++) {
      dimensionBytes +=
          keys.dimension(dimension).length + DimensionValues.MAX_BYTES + MAX_PAIR_BYTES;
    }
  }

  /** Returns an upper bound of the bytes that the links of a span add, apart from other heads. */
  long linkBytes(SpanView span) {
    int links = span.links.size();
    return (long) MAX_LINK_BYTES * links + Math.min(links, batches.size()) * dimensionBytes;
  }

  /** Begins a payload. */
  void payload() {
    separated = 0;
  }

  /**
   * Adds the half-edges of an accepted span, if it leaves some.
   *
   * @param attributes those that may name its peer, or be its dimensions
   * @param endNanos its end if it may have waited for the agent, else the greatest number
   */
  void add(SpanView span, Attributes attributes, RoutedResource resource, long endNanos) {
    if (!EdgeRules.classify(span, attributes, half)) {
      return;
    }
    if (keys.dimensions() > 0) {
      values.read(keys, attributes);
      values.read(keys, span.additional);
    }
    addHalf(span, resource, endNanos);
    for (int link = 1; link < EdgeRules.halves(span); link++) {
      EdgeRules.turnToLink(span, link, half);
      addHalf(span, resource, endNanos);
    }
    half.forgetPeer();
    values.clear();
  }

  private void addHalf(SpanView span, RoutedResource resource, long endNanos) {
    // Immediate half-edges are spread by their own span.
    long traceIdHigh = half.waiting ? half.traceIdHigh : span.traceIdHigh;
    long traceIdLow = half.waiting ? half.traceIdLow : span.traceIdLow;
    long spanId = half.waiting ? half.clientSpanId : span.spanId;
    long key = EdgeKey.key(traceIdHigh, traceIdLow, spanId);
    int place = route.place(key);
    Open open = open(place);
    EdgeBatchWriter batch = open.writer;
    separate(place, open, endNanos);
    long before = batch.sizeBytes();
    open.turnTo(resource);
    head(open, span);
    if (half.waiting) {
      int check = EdgeKey.check(traceIdHigh, traceIdLow, spanId);
      batch.waiting(key, check, span.durationNanos, half.messageMicros);
    } else {
      batch.immediate(span.durationNanos);
    }
    open.lastEndNanos = Math.max(open.lastEndNanos, endNanos);
    long size = batch.sizeBytes();
    open.bytes += size - before;
    bytes += size - before;
    if (batch.halfCount() >= mostHalves || size >= mostBytes) {
      close(place);
    }
  }

  /**
   * Closes a batch if its spans and the next one waited for different times, or only some of them
   * waited: a backlog would count at one time.
   */
  private void separate(int place, Open open, long endNanos) {
    if (open.writer.halfCount() > 0
        && (open.firstEndNanos == Batcher.NOT_WAITED) == (endNanos == Batcher.NOT_WAITED)
        && endNanos - open.firstEndNanos <= Batcher.MOST_SPREAD_NANOS) {
      return;
    }
    if (open.writer.halfCount() > 0) {
      if (separated == Batcher.MOST_SEPARATED) {
        return;
      }
      separated++;
      close(place);
    }
    open.firstEndNanos = endNanos;
  }

  private Open open(int place) {
    Open open = batches.get(place);
    if (open == null) {
      open = new Open(keys.dimensions());
      open.begin();
      batches.set(place, open);
    }
    open.isUsed = true;
    return open;
  }

  private void head(Open open, SpanView span) {
    EdgeBatchWriter batch = open.writer;
    int peer =
        half.peerLength == 0 ? NONE : batch.intern(half.peer, half.peerOffset, half.peerLength);
    batch.head(
        open.application,
        open.namespace,
        half.side,
        span.status == STATUS_ERROR,
        half.connectionType,
        peer,
        span.samplingThreshold,
        pairs,
        setPairs(open));
  }

  /** Sets the dimensions of the half-edge; returns their number. */
  private int setPairs(Open open) {
    int count = 0;
    for (int dimension = 0; dimension < keys.dimensions(); dimension++) {
      int value = values.has(dimension) ? open.intern(dimension, values) : open.value(dimension);
      if (value != NONE) {
        pairs[2 * count] = open.key(dimension, keys);
        pairs[2 * count + 1] = value;
        count++;
      }
    }
    return count;
  }

  /** Returns an upper bound of the bytes of the half-edges that are not in the frame yet. */
  long bytes() {
    return bytes;
  }

  /** Closes all batches that have half-edges. */
  void closeAll() {
    for (int place = 0; place < batches.size(); place++) {
      if (batches.get(place) != null && batches.get(place).writer.halfCount() > 0) {
        close(place);
      }
    }
  }

  private void close(int place) {
    Open open = batches.get(place);
    closing.closed(route.queues().get(place), open.writer, open.lastEndNanos);
    bytes -= open.bytes;
    open.begin();
  }

  /** Frees the memory of batches that were not used recently. */
  void trim() {
    long now = nanoClock.getAsLong();
    if (now - trimDueNanos < 0) {
      return;
    }
    trimDueNanos = now + BatchPool.UNUSED_NANOS;
    for (int place = 0; place < batches.size(); place++) {
      Open open = batches.get(place);
      if (open != null && open.writer.halfCount() == 0) {
        if (!open.isUsed) {
          batches.set(place, null);
        }
        open.isUsed = false;
      }
    }
  }

  /** Discards the half-edges in all batches. */
  void discard() {
    bytes = 0;
    values.clear();
    for (Open open : batches) {
      if (open != null) {
        open.begin();
      }
    }
  }
}
