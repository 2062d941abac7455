package org.traceetl.server.consume.queue;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.traceetl.proto.BatchAges;
import org.traceetl.proto.BundleReader;
import org.traceetl.proto.Heartbeat;
import org.traceetl.proto.Rejection;
import org.traceetl.server.consume.metrics.SpanPipelineMetrics;
import org.traceetl.server.decode.BatchDecoder;
import org.traceetl.server.decode.EdgeDecoder;
import org.traceetl.server.decode.MessageDecoder;
import org.traceetl.server.dedup.BatchHistory;
import org.traceetl.server.journal.QueueImage;
import org.traceetl.server.series.Applications;
import org.traceetl.server.window.QueueId;

/**
 * Aggregates the messages of one queue: decodes their batches, detects repeats, and lets a {@link
 * Recorder} add their spans or half-edges to the open window of {@link QueueWindows}. In a steady
 * state it allocates nothing.
 *
 * <p>Concurrency: confined to the worker that owns the queue, except the windows that {@link #swap}
 * gives away. The swap happens between two batches and never blocks: if the spare window is not
 * back yet, the open one continues.
 */
public final class QueueAggregator {
  private static final Logger log = LoggerFactory.getLogger(QueueAggregator.class);

  private final QueueId queue;
  private final SpanPipelineMetrics listener;
  private final MessageDecoder decoder;
  private final QueueWindows windows;
  private final Recorder recorder;
  private final BatchHistory history;
  private final AgentMarks marks;

  private final BatchAges noAges = new BatchAges();

  QueueAggregator(
      QueueId queue,
      Aggregation aggregation,
      MessageDecoder decoder,
      SpanPipelineMetrics listener,
      QueueImage image) {
    this.queue = queue;
    this.listener = listener;
    this.decoder = decoder;
    windows = new QueueWindows(queue, aggregation, listener, image);
    recorder =
        switch (decoder) {
          case BatchDecoder spans ->
              new SpanRecorder(queue, aggregation, spans, windows, listener, image);
          case EdgeDecoder edges ->
              new EdgeRecorder(queue, aggregation, edges, windows, listener, image);
        };
    history = windows.history();
    marks = windows.marks();
  }

  /**
   * Aggregates a message that was stored now, without ages.
   *
   * @param nowMillis milliseconds since 1970
   */
  public void accept(byte[] message, long nowMillis) {
    accept(message, nowMillis, nowMillis, noAges);
  }

  /**
   * Aggregates a message. Each batch of a bundle counts as if it were a message.
   *
   * @param nowMillis milliseconds since 1970
   * @param storedMillis when the broker stored the message, milliseconds since 1970
   * @param ages of its batches
   */
  public void accept(byte[] message, long nowMillis, long storedMillis, BatchAges ages) {
    begin(storedMillis, nowMillis, ages);
    if (decoder.isBundle(message)) {
      acceptBundle(message, nowMillis, storedMillis, ages);
    } else {
      accept(
          decoder.decode(message, 0, message.length),
          message.length,
          nowMillis,
          storedMillis - ages.of(0));
    }
  }

  /** Returns whether a message is a heartbeat, valid or not. */
  boolean isHeartbeat(byte[] message) {
    return decoder.isHeartbeat(message);
  }

  /**
   * Reads a heartbeat.
   *
   * @param nowMillis milliseconds since 1970
   * @param storedMillis when the broker stored it, milliseconds since 1970
   * @param ages have the age from which batches may be missing
   */
  void acceptHeartbeat(byte[] message, long nowMillis, long storedMillis, BatchAges ages) {
    marks.message(storedMillis, ages);
    if (windows.openedMillis() >= 0) {
      recorder.advance(storedMillis, nowMillis);
    }
    Heartbeat heartbeat = Heartbeat.read(message).orElse(null);
    listener.heartbeat(heartbeat != null);
    if (heartbeat == null) {
      return;
    }
    long high = heartbeat.agentHigh();
    long low = heartbeat.agentLow();
    // Agents without remembered batches cannot hold back the queue; they could be any number.
    int agent = history.find(high, low);
    if (agent == BatchHistory.NONE) {
      return;
    }
    if (heartbeat.goodbye()) {
      marks.goodbye(agent, high, low);
    } else {
      marks.from(agent, high, low);
      marks.host(agent, high, low, heartbeat.host());
    }
  }

  private void acceptBundle(byte[] message, long nowMillis, long storedMillis, BatchAges ages) {
    BundleReader bundle = decoder.bundle();
    Rejection rejection = bundle.wrap(message, 0, message.length);
    if (rejection != Rejection.NONE) {
      recorder.reject(Applications.UNKNOWN, rejection, bundle.declaredSpans(), message.length);
      return;
    }
    for (int part = 0; part < bundle.count(); part++) {
      accept(
          decoder.decodeBundled(message, part),
          bundle.length(part),
          nowMillis,
          storedMillis - ages.of(part));
    }
  }

  /**
   * Aggregates a message that its producer compressed.
   *
   * @param flags the message's system flags
   * @param storedMillis when the broker stored the message, milliseconds since 1970
   * @param ages of its batches
   */
  void acceptCompressed(byte[] body, int flags, long nowMillis, long storedMillis, BatchAges ages) {
    begin(storedMillis, nowMillis, ages);
    accept(
        decoder.decodeCompressed(body, flags), body.length, nowMillis, storedMillis - ages.of(0));
  }

  /**
   * Counts the batch or span that was just decoded.
   *
   * @param committedMillis when the agent accepted it, by the broker's clock
   */
  private void accept(Rejection rejection, int bytes, long nowMillis, long committedMillis) {
    if (decoder.isSkipped()) {
      if (rejection == Rejection.NONE && decoder.isNamed()) {
        // What is missing of its agent depends on all batches.
        isFirst(nowMillis);
      }
      return;
    }
    int application = recorder.openApplication(nowMillis);
    int spans = decoder.declaredSpans();
    if (rejection != Rejection.NONE) {
      recorder.reject(application, rejection, spans, bytes);
      bookBytes(application, bytes);
      return;
    }
    if (decoder.isNamed() && !isFirst(nowMillis)) {
      recorder.duplicate(application, nowMillis);
      listener.duplicate(bytes);
      return;
    }
    recorder.record(application, committedMillis, nowMillis);
    bookBytes(application, bytes);
    listener.accepted(bytes);
  }

  /** Books the bytes of a batch, unless it has several applications. */
  private void bookBytes(int application, int bytes) {
    if (application != Applications.UNKNOWN) {
      windows.open().bookBytes(application, bytes);
    }
  }

  /** Records the batch and its agent; returns false if the batch was recorded before. */
  private boolean isFirst(long nowMillis) {
    long high = decoder.agentHigh();
    long low = decoder.agentLow();
    boolean first = history.isFirst(high, low, decoder.epoch(), decoder.sequence(), nowMillis);
    marks.from(history.latest(), high, low);
    return first;
  }

  /** Begins a message. */
  private void begin(long storedMillis, long nowMillis, BatchAges ages) {
    marks.message(storedMillis, ages);
    beginWindow(nowMillis);
    recorder.advance(storedMillis, nowMillis);
  }

  private void beginWindow(long nowMillis) {
    if (windows.begin(nowMillis)) {
      recorder.begin(nowMillis);
    }
  }

  /**
   * Books a message whose recording fails as rejected, with all batches of a bundle. Nothing of it
   * is recorded, and its names are not remembered.
   *
   * @param flags the message's system flags, 0 for an uncompressed body
   */
  void refuse(byte[] body, int flags, long nowMillis) {
    beginWindow(nowMillis);
    if (flags != 0 || !decoder.isBundle(body)) {
      refuse(() -> decode(body, flags), body.length, nowMillis);
      return;
    }
    BundleReader bundle = decoder.bundle();
    if (bundle.wrap(body, 0, body.length) != Rejection.NONE) {
      recorder.reject(
          Applications.UNKNOWN, Rejection.INTERNAL, bundle.declaredSpans(), body.length);
    }
    for (int i = 0; i < bundle.count(); i++) {
      int part = i;
      refuse(() -> decoder.decodeBundled(body, part), bundle.length(part), nowMillis);
    }
  }

  private void decode(byte[] body, int flags) {
    if (flags == 0) {
      decoder.decode(body, 0, body.length);
    } else {
      decoder.decodeCompressed(body, flags);
    }
  }

  private void refuse(Runnable decode, int bytes, long nowMillis) {
    int application = Applications.UNKNOWN;
    int spans = 0;
    try {
      decode.run();
      spans = decoder.declaredSpans();
      application = recorder.openApplication(nowMillis);
    } catch (RuntimeException e) {
      log.debug("Cannot decode a rejected message of queue {}", queue, e);
    }
    recorder.reject(application, Rejection.INTERNAL, spans, bytes);
  }

  /** Sets the start of the first window, unless the queue has had windows. */
  public void beginAt(long offset) {
    windows.beginAt(offset);
  }

  /**
   * Ends the open window if it is not empty and its predecessor is back. Idle series and agents
   * leave with it.
   *
   * @param to offset after the window's last message
   * @return the window, to be sealed; null if it continues
   */
  public FilledWindow swap(long to, long nowMillis) {
    return swap(to, nowMillis, 0);
  }

  /**
   * Ends the open window like {@link #swap(long, long)}. In a queue without messages, windows end
   * as well while a pane is open or an agent is waited for. The journal accepts them only if the
   * broker answers, so the agents are silent, and the queue's time passes.
   *
   * @param passedMillis time since the last call without a message, at the end of the queue; 0 if
   *     there was a message or may be one
   */
  FilledWindow swap(long to, long nowMillis, long passedMillis) {
    return swap(to, nowMillis, passedMillis, false);
  }

  /** Ends the open window like {@link #swap(long, long)}, but before its time. */
  FilledWindow swapEarly(long to, long nowMillis) {
    return swap(to, nowMillis, 0, true);
  }

  private FilledWindow swap(long to, long nowMillis, long passedMillis, boolean isEarly) {
    if (!windows.canEnd()) {
      listener.swapDeferred(queue);
      return null;
    }
    beginWindow(nowMillis);
    int[] evicted = recorder.endWindow(nowMillis, isEarly);
    history.forgetSilent(nowMillis);
    long agentsEvicted = history.takeEvicted();
    if (agentsEvicted > 0) {
      listener.agentsEvicted(queue, agentsEvicted);
    }
    return windows.end(
        to, nowMillis, passedMillis, recorder.takeCreated(), evicted, recorder::takeEdges);
  }

  /** Returns whether the window should continue, until it is known whether to write its panes. */
  boolean awaitsPanes(long nowMillis) {
    return windows.awaitsPanes(nowMillis);
  }

  /** Returns whether the open window's predecessor is back; true until the next {@link #swap}. */
  boolean canSwap() {
    return windows.canEnd();
  }

  /** Returns whether the open window can end, and should end before its time. */
  boolean isCrowded(long nowMillis) {
    return windows.isCrowded(nowMillis);
  }

  /** Releases the queue; what was recorded since the last swap is dropped. */
  public void release() {
    recorder.release();
  }

  public int seriesCount() {
    return recorder.seriesCount();
  }

  public int symbolCount() {
    return recorder.symbolCount();
  }

  /** Returns the number of half-edges that wait. */
  public int openHalves() {
    return recorder.openHalves();
  }

  public int agentCount() {
    return history.agents();
  }
}
