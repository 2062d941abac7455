package org.traceetl.perf.systest.chaos;

/**
 * The outcome of a fault.
 *
 * @param heldMillis the duration of the fault
 * @param recoveredMillis from the fault's end, or from its start if other servers take over, until
 *     all queues were read and counted again; negative if no recovery was seen
 */
record Outcome(FaultKind kind, long heldMillis, long recoveredMillis) {}
