/** Spans as a fleet makes them, in the forms that the steps take. */
package org.traceetl.perf.bench.load;
