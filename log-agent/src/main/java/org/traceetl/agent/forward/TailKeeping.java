package org.traceetl.agent.forward;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.Map;
import org.traceetl.agent.config.ForwardConfig.Keep;
import org.traceetl.agent.disk.Disk;
import org.traceetl.agent.flow.Attributes;
import org.traceetl.agent.flow.KeySet;
import org.traceetl.agent.flow.MalformedPayloadException;
import org.traceetl.agent.flow.OtlpFormat;
import org.traceetl.agent.flow.SpanDecoder;
import org.traceetl.agent.flow.SpanSink;
import org.traceetl.agent.flow.SpanView;
import org.traceetl.agent.forward.ForwardMetrics.Drop;
import org.traceetl.agent.forward.ForwardMetrics.Kept;
import org.traceetl.common.Clocks;
import org.traceetl.common.LogThrottle;

/**
 * Decides which spans are forwarded. Requests wait in a buffer of their own on disk. They are read
 * twice: at once, to mark the traces of slow and failed spans, and after the wait, to pass on the
 * spans whose traces are marked or in the ratio. All other state is the marks, so a start reads the
 * waiting requests again, and lacks only the marks of those that had been decided on.
 *
 * <p>A mark counts for spans accepted up to the wait before and after it, by the times at which
 * requests were accepted. A decision later than due also finds later marks, so it may keep more.
 * Owned by the thread that writes the buffers.
 */
final class TailKeeping {
  /** Most requests of a step, because others wait in memory meanwhile. */
  private static final int MOST_OF_STEP = 4;

  /** A longer array is not kept. */
  private static final int USUAL_BYTES = 1024 * 1024;

  private static final String MARKS = "marks";
  private static final String DECISIONS = "decisions";
  private static final int STATUS_ERROR = 2;
  private static final KeySet NO_KEYS = new KeySet(List.of());

  private final Keep config;
  private final ForwardBuffer waiting;
  private final ForwardBuffer.Cursor marks;
  private final ForwardBuffer.Cursor decisions;
  private final EncodedSpans.Store kept;
  private final Map<OtlpFormat, SpanDecoder> decoders;
  private final ForwardMetrics metrics;
  private final Clocks clocks;
  private final MarkedTraces traces;
  private final Marker marker = new Marker();
  private final Decider decider = new Decider();
  private Body body = new Body();
  private long forgottenMillis;
  // Of the request that was read last.
  private boolean isEarly;
  private volatile boolean draining;

  /**
   * Opens the buffer.
   *
   * @param kept takes the requests to forward; those that it does not store keep waiting
   * @param decoders read requests by format, on the thread of the buffers
   * @param seed random
   */
  TailKeeping(
      Keep config,
      Path directory,
      Disk disk,
      EncodedSpans.Store kept,
      Map<OtlpFormat, SpanDecoder> decoders,
      ForwardMetrics metrics,
      Clocks clocks,
      long seed)
      throws IOException {
    this.config = config;
    this.kept = kept;
    this.decoders = decoders;
    this.metrics = metrics;
    this.clocks = clocks;
    traces = new MarkedTraces(seed);
    waiting =
        ForwardBuffer.open(
            directory,
            config.bufferBytes(),
            List.of(MARKS, DECISIONS),
            disk,
            this::dropped,
            new LogThrottle(clocks.nanoClock()));
    marks = waiting.cursor(MARKS);
    decisions = waiting.cursor(DECISIONS);
    metrics.observeKeeping(decisions::backlogBytes, traces::size);
  }

  /** Counts each request once, although two cursors read it. */
  private void dropped(String cursor, Drop reason, long requests) {
    if (cursor.equals(DECISIONS)) {
      metrics.droppedForAll(reason, requests);
    }
  }

  /** Appends a request that is to wait. */
  void append(byte[] request, int length, long millis, OtlpFormat format) throws IOException {
    waiting.append(request, length, millis, format);
  }

  /**
   * Marks and decides as far as requests are there and due; returns whether it did either.
   *
   * @param mayDecide false while requests to forward cannot be stored
   */
  boolean step(boolean mayDecide) throws IOException {
    int left = MOST_OF_STEP;
    while (left > 0 && mark()) {
      left--;
    }
    boolean worked = left < MOST_OF_STEP;
    if (left > 0 && mayDecide) {
      for (int i = 0; i < MOST_OF_STEP && decide(); i++) {
        worked = true;
      }
    }
    return worked;
  }

  /** Marks the traces of the next request; returns whether one waited. */
  private boolean mark() throws IOException {
    ForwardBuffer.Read<Body> read = marks.read(body::of);
    if (read == null) {
      return false;
    }
    marker.millis = read.request().millis();
    try {
      decode(read.request(), marker);
    } catch (MalformedPayloadException e) {
      // Counted when it is decided on.
    }
    body = body.reused();
    return true;
  }

  /** Decides on the next request; returns false if none is due, or it cannot be stored. */
  private boolean decide() throws IOException {
    ForwardBuffer.Read<Body> read =
        decisions.read(request -> isDue(request) ? body.of(request) : null);
    if (read == null) {
      decisions.allDone();
      return false;
    }
    boolean isDecided = decide(read.request());
    body = body.reused();
    if (!isDecided) {
      decisions.unread(read);
      return false;
    }
    decisions.done(read.end());
    marks.done(read.end());
    forget(read.request().millis());
    return true;
  }

  /** Returns whether nothing more is to be done with the request. */
  private boolean decide(StoredRequest request) {
    boolean isRead = false;
    boolean isDecided = true;
    try {
      decider.begin(request.millis());
      decode(request, decider);
      isDecided = passOn(request);
      isRead = true;
    } catch (MalformedPayloadException e) {
      // Counted below.
    } finally {
      if (!isRead) {
        metrics.droppedForAll(Drop.DAMAGED, 1);
      }
    }
    if (isDecided && isEarly) {
      metrics.decidedEarly();
    }
    return isDecided;
  }

  private boolean isDue(StoredRequest request) {
    long age = clocks.millis() - request.millis();
    // If the clock was set back, the age is unknown.
    boolean hasWaited = age < 0 || age >= config.waitMillis() || draining;
    isEarly = !hasWaited && decisions.backlogBytes() > config.bufferBytes() / 2;
    return hasWaited || isEarly;
  }

  private void decode(StoredRequest request, SpanSink sink) throws MalformedPayloadException {
    decoders.get(request.format()).decode(body.bytes, request.length(), sink);
  }

  /** Returns false if the request is to be forwarded and cannot be stored. */
  private boolean passOn(StoredRequest request) {
    int spans = decider.spans;
    int keptSpans = decider.kept.cardinality();
    // JSON would have to be parsed and written.
    boolean isWhole = keptSpans == spans || request.format() == OtlpFormat.JSON;
    if (keptSpans == 0) {
      metrics.leftOut();
    } else {
      int length =
          isWhole ? request.length() : SpanCut.cut(body.bytes, request.length(), decider.kept);
      if (!kept.store(body.bytes, length, request.millis(), request.format())) {
        return false;
      }
    }
    decider.count(isWhole && keptSpans > 0);
    return true;
  }

  /** Forgets marks that count for no later request; now and then, because it reads all of them. */
  private void forget(long decidedMillis) {
    long before = decidedMillis - config.waitMillis();
    if (Math.abs(before - forgottenMillis) >= config.waitMillis() / 4) {
      forgottenMillis = before;
      // Later marks are of a clock that was set back since. Its last requests are decided on first.
      traces.forget(before, Math.max(decidedMillis, clocks.millis()) + config.waitMillis());
    }
  }

  /** Decides on all requests from now on without a wait. Safe for any thread. */
  void drain() {
    draining = true;
  }

  /** Returns whether no request waits. Safe for any thread. */
  boolean isEmpty() {
    return decisions.backlogBytes() == 0;
  }

  /** Deletes what is decided on, and stores the position. */
  void tidy() {
    waiting.tidy();
  }

  /** Leaves the waiting requests for the next start. */
  void close() throws IOException {
    marks.close();
    decisions.close();
    waiting.close();
  }

  private boolean isSlow(SpanView span) {
    return span.durationNanos >= config.slowNanos();
  }

  private boolean isFailed(SpanView span) {
    return config.failed() && span.status == STATUS_ERROR;
  }

  /** Needs no attributes. */
  private abstract static class Reader implements SpanSink {
    @Override
    public void resource(Attributes attributes) {}

    @Override
    public KeySet wantedKeys() {
      return NO_KEYS;
    }
  }

  private final class Marker extends Reader {
    private long millis;

    @Override
    public boolean span(SpanView span) {
      boolean isMarked = isSlow(span) || isFailed(span);
      if (isMarked && !traces.mark(span.traceIdHigh, span.traceIdLow, millis)) {
        metrics.notMarked();
      }
      return true;
    }

    @Override
    public void rejected(String reason) {}
  }

  private final class Decider extends Reader {
    private final BitSet kept = new BitSet();
    private final int[] counts = new int[Kept.values().length];
    private long sinceMillis;
    private int spans;

    void begin(long millis) {
      kept.clear();
      Arrays.fill(counts, 0);
      sinceMillis = millis - config.waitMillis();
      spans = 0;
    }

    @Override
    public boolean span(SpanView span) {
      Kept outcome = outcome(span);
      kept.set(spans++, outcome != Kept.LEFT_OUT);
      counts[outcome.ordinal()]++;
      return true;
    }

    private Kept outcome(SpanView span) {
      if (isSlow(span)) {
        return Kept.SLOW;
      }
      if (isFailed(span)) {
        return Kept.FAILED;
      }
      if (traces.isMarked(span.traceIdHigh, span.traceIdLow, sinceMillis)) {
        return Kept.TRACE;
      }
      return span.isSampledAt(config.threshold()) ? Kept.RATIO : Kept.LEFT_OUT;
    }

    @Override
    public void rejected(String reason) {
      spans++;
      counts[Kept.MALFORMED.ordinal()]++;
    }

    /**
     * @param isWhole whether spans that are not to be kept are forwarded, too
     */
    void count(boolean isWhole) {
      for (Kept outcome : Kept.values()) {
        boolean isLeftOut = outcome == Kept.LEFT_OUT || outcome == Kept.MALFORMED;
        metrics.kept(isLeftOut && isWhole ? Kept.REQUEST : outcome, counts[outcome.ordinal()]);
      }
    }
  }

  /** The body of a request in an array that is reused. */
  private static final class Body extends OutputStream {
    private byte[] bytes = new byte[0];
    private int length;

    /** Begins a request. */
    Body of(StoredRequest request) {
      if (bytes.length < request.length()) {
        bytes = new byte[request.length()];
      }
      length = 0;
      return this;
    }

    /** Returns what is used for the next request. */
    Body reused() {
      return bytes.length > USUAL_BYTES ? new Body() : this;
    }

    @Override
    public void write(int value) {
      bytes[length++] = (byte) value;
    }

    @Override
    public void write(byte[] from, int offset, int count) {
      System.arraycopy(from, offset, bytes, length, count);
      length += count;
    }
  }
}
