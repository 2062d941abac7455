package org.traceetl.agent.flow;

/** Takes decoded spans. Called by the pipeline thread only. */
public interface SpanSink {
  /**
   * The spans that follow belong to this resource. The attributes are valid until the next call.
   */
  void resource(Attributes attributes);

  /** A span of the last resource. The view is valid during the call. */
  void span(SpanView span);

  /**
   * A span that cannot be accepted.
   *
   * @param reason a constant, lower case with underscores: it becomes a metric label
   */
  void rejected(String reason);
}
