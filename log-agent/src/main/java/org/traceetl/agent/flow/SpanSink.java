package org.traceetl.agent.flow;

/** Takes decoded spans. Called by the pipeline thread only. */
public interface SpanSink {
  /**
   * The spans that follow belong to this resource. The attributes are valid until the next call.
   */
  void resource(Attributes attributes);

  /**
   * The keys of spans' attributes that are of use, for the last resource; null for all. A decoder
   * may leave the others out as soon as it sees their keys: it tells by {@link
   * SpanView#attributesNotWanted}.
   */
  default KeySet wantedKeys() {
    return null;
  }

  /** The events that are to be counted; a decoder passes over others. The same for all payloads. */
  default WantedEvents wantedEvents() {
    return WantedEvents.NONE;
  }

  /**
   * A span of the last resource. The view is valid during the call; its attributes are not to be
   * changed, as the decoder may use them once more.
   */
  void span(SpanView span);

  /**
   * A span that cannot be accepted.
   *
   * @param reason a constant, lower case with underscores: it becomes a metric label
   */
  void rejected(String reason);
}
