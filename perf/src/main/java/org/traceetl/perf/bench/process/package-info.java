/** Real programs as processes of their own, with free ports. */
package org.traceetl.perf.bench.process;
