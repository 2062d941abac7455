/** Puts faults into the programs, one at a time, and reports which ones the simulation finds. */
package org.traceetl.perf.simulate.mutation;
