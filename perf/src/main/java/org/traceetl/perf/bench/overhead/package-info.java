/** What tracing costs an application: the same work without it, over OTLP and through a ring. */
package org.traceetl.perf.bench.overhead;
