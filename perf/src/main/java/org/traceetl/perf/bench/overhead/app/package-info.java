/** The measured applications; each is a process whose environment configures its tracing. */
package org.traceetl.perf.bench.overhead.app;
