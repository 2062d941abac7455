/** Measurements: a realistic stream of span batches, and what it costs to take it in. */
package org.traceetl.perf;
