/** Runs agents and servers on simulated brokers and devices; {@code Simulate} starts it. */
package org.traceetl.perf.simulate;
