package org.traceetl.agent.flow;

/**
 * A decoded span: numbers, and slices of the bytes it came in. Mutable and reused by its decoder.
 */
public final class SpanView {
  public long traceIdHigh;
  public long traceIdLow;
  public long spanId;

  /** 0 for a root span. */
  public long parentSpanId;

  /** As in OTLP, 0 to 5. */
  public int kind;

  /** As in OTLP, 0 to 2. */
  public int status;

  public long startUnixNanos;

  /** At least 0. */
  public long durationNanos;

  /** T of the tracestate's {@code ot=th}, below 2^56; 0 when the span stands for itself alone. */
  public long samplingThreshold;

  /**
   * R of the tracestate's {@code ot=rv}, below 2^56; below 0 when there is none: then the lower 56
   * bits of the trace ID are it.
   */
  public long randomness = -1;

  public byte[] name;
  public int nameOffset;
  public int nameLength;

  public byte[] statusMessage;
  public int statusMessageOffset;

  /** 0 when there is none. */
  public int statusMessageLength;

  /** Attributes that the decoder has left out because {@link SpanSink#wantedKeys} lacks them. */
  public int attributesNotWanted;

  public final Attributes attributes = new Attributes();

  /** Those that are {@linkplain SpanSink#wantedEvents wanted}, with the attributes that are. */
  public final SpanEvents events = new SpanEvents();

  /** Events wanted that the decoder has left out because the span has too many. */
  public int eventsLeftOut;
}
