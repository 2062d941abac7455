/**
 * Simulated time, threads and processes: production code runs on one carrier thread, in an order
 * that a seed determines.
 */
package org.traceetl.perf.simulate.world;
