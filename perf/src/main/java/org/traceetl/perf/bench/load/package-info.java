/** Generates spans like a fleet's, in the formats that the steps process. */
package org.traceetl.perf.bench.load;
