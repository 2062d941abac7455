/** Many agents in few processes. */
package org.traceetl.perf.bench.fleet;
