/**
 * Holds a whole installation of real processes to exactness while its processes are killed, paused
 * and taken away.
 */
package org.traceetl.perf.systest.chaos;
