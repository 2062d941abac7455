/** Writes the results of a measurement: a table as CSV, a picture, one line of pairs. */
package org.traceetl.perf.bench.report;
