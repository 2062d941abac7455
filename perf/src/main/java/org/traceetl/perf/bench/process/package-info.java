/** Measures the CPU time and memory of processes. */
package org.traceetl.perf.bench.process;
