/** Runs agents on simulated disks, and applications that send spans to them. */
package org.traceetl.perf.simulate.agent;
