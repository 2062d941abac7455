/** Compares the allocation and instructions of the hot paths with a baseline. */
package org.traceetl.perf.bench.gate;
