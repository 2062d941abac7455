package org.traceetl.server.consume.queue;

import org.apache.rocketmq.common.message.MessageExt;
import org.apache.rocketmq.common.sysflag.MessageSysFlag;
import org.traceetl.proto.BatchAges;
import org.traceetl.server.consume.metrics.SpanPipelineMetrics;
import org.traceetl.server.decode.BatchDecoder;
import org.traceetl.server.window.QueueId;
import org.traceetl.server.window.SealedWindow;

/**
 * Aggregates retained messages of one queue a second time, for one application, as a server that
 * begins with the first of them and has no journal. The time is that of the store times, so windows
 * are a function of the messages. They end with each pane, and early if they have many panes.
 *
 * <p>Spans of other applications are not decoded. The names of their batches count, because they
 * show until when the queue is complete. For one thread at a time.
 */
public final class RetainedQueue {
  private final QueueAggregator aggregator;
  private final SpanPipelineMetrics listener;
  private final long paneMillis;
  private final BatchAges ages = new BatchAges();

  private long next;

  /** The highest store time so far, milliseconds since 1970. */
  private long nowMillis;

  private boolean isOpen;

  /** Begin of the pane in which the open window began. */
  private long openedPane;

  /**
   * @param aggregation used by no other queue, because queues share limits; its windows have panes
   * @param application the only one whose spans count
   * @param from offset of the first message
   */
  public RetainedQueue(
      QueueId queue,
      Aggregation aggregation,
      String application,
      SpanPipelineMetrics listener,
      long from) {
    this(queue, aggregation, application, listener, from, false);
  }

  private RetainedQueue(
      QueueId queue,
      Aggregation aggregation,
      String application,
      SpanPipelineMetrics listener,
      long from,
      boolean isOfSample) {
    this.listener = listener;
    paneMillis = aggregation.paneMillis();
    aggregation.panes(true);
    aggregation.variances(isOfSample);
    BatchDecoder decoder = aggregation.newDecoder();
    decoder.select(application);
    if (isOfSample) {
      decoder.selectSample();
    }
    aggregator = aggregation.newAggregator(queue, decoder, listener);
    aggregator.beginAt(from);
    next = from;
  }

  /**
   * Returns a queue that counts, instead of groups without a dimension, the sample of their spans:
   * by its weight, with variances. Parameters are those of the constructor.
   */
  public static RetainedQueue ofSample(
      QueueId queue,
      Aggregation aggregation,
      String application,
      SpanPipelineMetrics listener,
      long from) {
    return new RetainedQueue(queue, aggregation, application, listener, from, true);
  }

  /**
   * Takes the next message; an offset may be left out.
   *
   * @return the window that ends before it; null if the open one continues
   */
  public SealedWindow take(MessageExt message) {
    nowMillis = Math.max(nowMillis, message.getStoreTimestamp());
    long pane = Math.floorDiv(nowMillis, paneMillis);
    SealedWindow ended = null;
    if (isOpen && pane != openedPane) {
      ended = seal(aggregator.swap(next, nowMillis));
    } else if (isOpen && aggregator.isCrowded(Long.MAX_VALUE)) {
      // However young it is: then hardly any panes have to be merged.
      ended = seal(aggregator.swapEarly(next, nowMillis));
    }
    if (!isOpen || ended != null) {
      openedPane = pane;
      isOpen = true;
    }
    accept(message);
    next = message.getQueueOffset() + 1;
    return ended;
  }

  /** Ends the open window after the last message; returns null if it is empty. */
  public SealedWindow end() {
    return isOpen ? seal(aggregator.swap(next, nowMillis)) : null;
  }

  private static SealedWindow seal(FilledWindow filled) {
    if (filled == null) {
      return null;
    }
    SealedWindow sealed = filled.seal();
    filled.giveBack();
    return sealed;
  }

  private void accept(MessageExt message) {
    byte[] body = MessageIdentity.body(message);
    long storedMillis = message.getStoreTimestamp();
    String property = message.getProperty(BatchAges.PROPERTY);
    if (!ages.read(property)) {
      listener.malformedAges();
    }
    if ((message.getSysFlag() & MessageSysFlag.COMPRESSED_FLAG) != 0) {
      aggregator.acceptCompressed(body, message.getSysFlag(), nowMillis, storedMillis, ages);
    } else if (aggregator.isHeartbeat(body)) {
      aggregator.acceptHeartbeat(body, nowMillis, storedMillis, ages);
    } else {
      aggregator.accept(body, nowMillis, storedMillis, ages);
    }
  }
}
