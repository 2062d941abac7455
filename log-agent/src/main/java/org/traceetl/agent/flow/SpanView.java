package org.traceetl.agent.flow;

/** A decoded span: numbers, and slices of the payload. Mutable and reused by its decoder. */
public final class SpanView {
  private static final long RANDOM_BITS = (1L << 56) - 1;

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

  /** T of the tracestate's {@code ot=th}, below 2^56; 0 if the span represents only itself. */
  public long samplingThreshold;

  /**
   * R of the tracestate's {@code ot=rv}, below 2^56; negative if there is none, and the lower 56
   * bits of the trace ID are used.
   */
  public long randomness = -1;

  /**
   * Bytes of the span as the source received it, at most 2^31 - 1; 0 if unknown. A filtered span
   * keeps it.
   */
  public long sizeBytes;

  /** Array whose content never changes, of which strings may be slices; null without one. */
  public byte[] dictionary;

  public byte[] name;
  public int nameOffset;
  public int nameLength;

  public byte[] statusMessage;
  public int statusMessageOffset;

  /** 0 if there is none. */
  public int statusMessageLength;

  /** Number of attributes skipped because the {@link SpanSink}'s keys lack them. */
  public int attributesNotWanted;

  /** Upper bound of the bytes of text skipped because {@link SpanSink#firstKeys} lacks its keys. */
  public long textNotWanted;

  public final Attributes attributes = new Attributes();

  /** Attributes that a first reading skipped, with the keys of {@link SpanSink#additionalKeys}. */
  public final Attributes additional = new Attributes();

  /** The {@linkplain SpanSink#wantedEvents wanted} events, with their wanted attributes. */
  public final SpanEvents events = new SpanEvents();

  /** The spans that a consumer is linked to: those that sent its messages. Others have none. */
  public SpanLinks links = new SpanLinks();

  /** Number of wanted events left out because the span has too many, or too much text. */
  public int eventsLeftOut;

  /**
   * Returns whether a consistent sample has this span. All spans of a trace with the same threshold
   * of their own have the same answer, on all hosts.
   *
   * @param threshold T of the sample, (1 - ratio) * 2^56; 2^56 has no span. A span that was sampled
   *     at T or above before is always in it
   */
  public boolean isSampledAt(long threshold) {
    long ofTrace = randomness >= 0 ? randomness : traceIdLow & RANDOM_BITS;
    return threshold <= samplingThreshold || ofTrace >= threshold;
  }
}
