/** The programs behind {@code bin/bench}: each measures one thing end to end. */
package org.traceetl.perf.bench;
