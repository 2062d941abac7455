package org.traceetl.server.features.push;

/** The requests with samples of one journal record. Confined to its {@link QueueSamples}. */
final class PushedRecord {
  /** Requests without a final answer. */
  int unanswered;

  /** Offset of the record in the journal, once it has ended. */
  long offset;
}
