/** Micro-benchmarks of single steps, run by JMH. */
package org.traceetl.perf.bench.jmh;
