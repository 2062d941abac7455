/** Call trees, and the edges that a service graph must have of them. */
package org.traceetl.perf.bench.edges;
