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

  /** Returns the events to count, for all payloads; a decoder skips other events. */
  default WantedEvents wantedEvents() {
    return WantedEvents.NONE;
  }

  /**
   * Receives a span of the last resource. The view is valid during the call. Its attributes must
   * not be changed, because the decoder may reuse them.
   */
  void span(SpanView span);

  /**
   * Counts a span that cannot be accepted.
   *
   * @param reason a constant, lower case with underscores: it becomes a metric label
   */
  void rejected(String reason);
}
