package org.traceetl.perf.systest.chaos;

/**
 * How a fault went.
 *
 * @param heldMillis how long it lasted
 * @param recoveredMillis from its end, or from its begin where others take over, until all queues
 *     were read and counted again; negative if that was not seen
 */
record Outcome(FaultKind kind, long heldMillis, long recoveredMillis) {}
