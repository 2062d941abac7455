/** The applications that are measured; each is a process, told by its environment how to trace. */
package org.traceetl.perf.bench.overhead.app;
