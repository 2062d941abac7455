package org.traceetl.perf.bench.gate;

import java.util.Optional;

/**
 * The amounts of a figure, for each of its units: measured, or those of the baseline.
 *
 * @param bytes allocated in the heap
 * @param instructions in user mode; empty if unknown
 */
record Amounts(double bytes, Optional<Double> instructions) {}
