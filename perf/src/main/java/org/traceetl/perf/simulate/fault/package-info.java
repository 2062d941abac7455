/** The faults of a simulated run: drawn from a seed, written as text, and applied to a fleet. */
package org.traceetl.perf.simulate.fault;
