package org.traceetl.proto;

/**
 * Builds one {@code SpanBatch} message at a time from slices of bytes, without an object per span.
 *
 * <p>Use: {@link #begin}, then for each span {@link #startSpan}, {@link #attribute} …, {@link
 * #endSpan}, then {@link #finish}, which leaves the message in {@link #buffer()}. Strings are given
 * as dictionary indexes from {@link #intern}. Reusable: {@code begin} starts anew, with the arrays
 * of the last batch. Not thread-safe: one owner.
 */
public final class SpanBatchWriter {
  /** Starts a batch; the dictionary is empty. Forgets an unfinished one. */
  public void begin() {
    throw new IllegalStateException("skeleton");
  }

  /**
   * Index of the string in the batch's dictionary, added at its first sight. Strings over {@link
   * Limits#MAX_STRING_BYTES} are cut at a UTF-8 boundary.
   *
   * @throws IllegalStateException when the dictionary is full
   */
  public int intern(byte[] bytes, int offset, int length) {
    throw new IllegalStateException("skeleton");
  }

  /** Sets the application, a dictionary index. */
  public void application(int index) {
    throw new IllegalStateException("skeleton");
  }

  /** Adds an attribute of the resource. */
  public void resourceAttribute(int key, int value) {
    throw new IllegalStateException("skeleton");
  }

  /**
   * Starts a span.
   *
   * @param parentSpanId 0 for a root span
   * @param name dictionary index
   * @param kind as in OTLP, 0 to 5
   * @param status as in OTLP, 0 to 2
   * @param durationNanos at least 0
   * @param samplingThreshold 0 when the span stands for itself alone, else below 2^56
   */
  public void startSpan(
      long traceIdHigh,
      long traceIdLow,
      long spanId,
      long parentSpanId,
      int name,
      int kind,
      int status,
      long startUnixNanos,
      long durationNanos,
      long samplingThreshold) {
    throw new IllegalStateException("skeleton");
  }

  /**
   * Adds an attribute to the span started; those above {@link Limits#MAX_ATTRIBUTES} are left out.
   */
  public void attribute(int key, int value) {
    throw new IllegalStateException("skeleton");
  }

  /** Sets the status message of the span started, a dictionary index. */
  public void statusMessage(int index) {
    throw new IllegalStateException("skeleton");
  }

  /** Ends the span started. */
  public void endSpan() {
    throw new IllegalStateException("skeleton");
  }

  /** Spans in the batch so far. */
  public int spanCount() {
    throw new IllegalStateException("skeleton");
  }

  /** Upper bound of the bytes that {@link #finish} would make of what is in the batch now. */
  public int sizeBytes() {
    throw new IllegalStateException("skeleton");
  }

  /**
   * Makes the message.
   *
   * @return its length; its bytes are {@code buffer()[0, length)}
   */
  public int finish(long agentHigh, long agentLow, long epoch, long sequence) {
    throw new IllegalStateException("skeleton");
  }

  /** Holds the message after {@link #finish}, until the next {@link #begin}. */
  public byte[] buffer() {
    throw new IllegalStateException("skeleton");
  }
}
