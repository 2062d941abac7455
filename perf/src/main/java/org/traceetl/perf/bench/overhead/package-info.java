/** Measures what tracing costs an application: without tracing, over OTLP and through a ring. */
package org.traceetl.perf.bench.overhead;
