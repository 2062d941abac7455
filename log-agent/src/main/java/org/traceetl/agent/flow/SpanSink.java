package org.traceetl.agent.flow;

/** Receives decoded spans. Called on the pipeline thread only. */
public interface SpanSink {
  /** Sets the resource of the next spans. The attributes are valid until the next call. */
  void resource(Attributes attributes);

  /**
   * Returns the span attribute keys that are needed for the last resource; null for all. A decoder
   * may skip other attributes as soon as it sees their keys; it counts them in {@link
   * SpanView#attributesNotWanted}.
   */
  default KeySet wantedKeys() {
    return null;
  }

  /**
   * Returns the span attribute keys that are usually enough for spans of the last resource; null if
   * {@link #wantedKeys} must be read at once. If not null, a decoder may first skip other
   * attributes. {@link #span} returns false if a span needs the skipped ones. The outcome must be
   * the same as without skipping, so a decoder skips only well-formed attributes, and counts them
   * in its limit of attributes.
   */
  default KeySet firstKeys() {
    return null;
  }

  /**
   * Returns the span attribute keys that the decoder puts into {@link SpanView#additional} if a
   * first reading skips them; null for none. Such attributes count as skipped.
   *
   * @param kind of the span; 0 if it is not known yet
   */
  default KeySet additionalKeys(int kind) {
    return null;
  }

  /**
   * Returns whether a span with this kind, status and duration needs all attributes. A decoder may
   * call this before it reads attributes; the other fields are not read.
   */
  default boolean needsAll(SpanView span) {
    return false;
  }

  /** Returns the events to count, for all payloads; a decoder skips other events. */
  default WantedEvents wantedEvents() {
    return WantedEvents.NONE;
  }

  /**
   * Receives a span of the last resource. The view is valid during the call. Its attributes must
   * not be changed, because the decoder may reuse them.
   *
   * @return false if the span needs attributes that {@link #firstKeys} lacks: the decoder must call
   *     again at once, with all {@link #wantedKeys} of this span; then the result is true
   */
  boolean span(SpanView span);

  /**
   * Counts a span that cannot be accepted.
   *
   * @param reason a constant, lower case with underscores: it becomes a metric label
   */
  void rejected(String reason);
}
