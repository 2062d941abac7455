package org.traceetl.server.edge;

/** What became of a half when it arrived. */
public enum Outcome {
  /** It was paired with each open partner. */
  PAIRED,

  /** It is open, and will be paired or expire. */
  WAITING,

  /** Refused: an open half has its place. */
  DUPLICATE,

  /** Refused: no partner is open, and the table is full. */
  OVERFLOWED
}
