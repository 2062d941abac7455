package org.traceetl.proto;

/**
 * A cursor over one {@code SpanBatch} message. It reads in place: no object per span, no {@code
 * String}; arrays are kept from message to message.
 *
 * <p>Use: {@link #wrap}; if it answers {@link Rejection#NONE}, {@link #next} until false; then
 * {@link #rejection} tells whether the batch ended well. A batch refused midway must not count, so
 * callers collect before they record. Unknown fields are skipped. Never throws for any input. Not
 * thread-safe.
 */
public final class SpanBatchReader {
  /**
   * Reads everything up to the spans.
   *
   * @return {@link Rejection#NONE}, or why the message is refused
   */
  public Rejection wrap(byte[] buffer, int offset, int length) {
    throw new IllegalStateException("skeleton");
  }

  /** Moves to the next span. False at the end and when the batch is refused: {@link #rejection}. */
  public boolean next() {
    throw new IllegalStateException("skeleton");
  }

  /** Why the batch was refused; {@link Rejection#NONE} while nothing is wrong with it. */
  public Rejection rejection() {
    throw new IllegalStateException("skeleton");
  }

  /** The array given to {@link #wrap}. */
  public byte[] buffer() {
    throw new IllegalStateException("skeleton");
  }

  // The batch

  public long agentHigh() {
    throw new IllegalStateException("skeleton");
  }

  public long agentLow() {
    throw new IllegalStateException("skeleton");
  }

  public long epoch() {
    throw new IllegalStateException("skeleton");
  }

  public long sequence() {
    throw new IllegalStateException("skeleton");
  }

  /**
   * Spans that the batch declares, 0 to {@link Limits#MAX_SPANS}; 0 when it was refused before that
   * field was read. When {@link #next} has answered false with no rejection it equals the spans
   * read.
   */
  public int spanCount() {
    throw new IllegalStateException("skeleton");
  }

  /** Entries of the dictionary. */
  public int dictionarySize() {
    throw new IllegalStateException("skeleton");
  }

  /** Where entry {@code index} starts in {@link #buffer}. */
  public int dictionaryOffset(int index) {
    throw new IllegalStateException("skeleton");
  }

  /** Length of entry {@code index}, bytes. */
  public int dictionaryLength(int index) {
    throw new IllegalStateException("skeleton");
  }

  /** Dictionary index of the application. */
  public int application() {
    throw new IllegalStateException("skeleton");
  }

  public int resourceAttributeCount() {
    throw new IllegalStateException("skeleton");
  }

  public int resourceAttributeKey(int i) {
    throw new IllegalStateException("skeleton");
  }

  public int resourceAttributeValue(int i) {
    throw new IllegalStateException("skeleton");
  }

  // The span at the cursor

  public long traceIdHigh() {
    throw new IllegalStateException("skeleton");
  }

  public long traceIdLow() {
    throw new IllegalStateException("skeleton");
  }

  public long spanId() {
    throw new IllegalStateException("skeleton");
  }

  /** 0 for a root span. */
  public long parentSpanId() {
    throw new IllegalStateException("skeleton");
  }

  /** Dictionary index. */
  public int name() {
    throw new IllegalStateException("skeleton");
  }

  /** As in OTLP, 0 to 5. */
  public int kind() {
    throw new IllegalStateException("skeleton");
  }

  /** As in OTLP, 0 to 2. */
  public int status() {
    throw new IllegalStateException("skeleton");
  }

  public long startUnixNanos() {
    throw new IllegalStateException("skeleton");
  }

  /** At least 0. */
  public long durationNanos() {
    throw new IllegalStateException("skeleton");
  }

  /** 0 when the span stands for itself alone; below 2^56. */
  public long samplingThreshold() {
    throw new IllegalStateException("skeleton");
  }

  /** Dictionary index of the status message, or -1. */
  public int statusMessage() {
    throw new IllegalStateException("skeleton");
  }

  public int attributeCount() {
    throw new IllegalStateException("skeleton");
  }

  /**
   * Keys and values of the span's attributes as dictionary indexes: key i at {@code 2 * i}, value i
   * at {@code 2 * i + 1}, for i below {@link #attributeCount}. Valid until {@link #next}.
   */
  public int[] attributes() {
    throw new IllegalStateException("skeleton");
  }
}
