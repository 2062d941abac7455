/**
 * Runs agents, servers and all that they stand on in simulated time; {@code Simulate} starts it.
 */
package org.traceetl.perf.simulate;
