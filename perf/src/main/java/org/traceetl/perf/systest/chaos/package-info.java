/**
 * Checks that an installation of real processes counts exactly while they are killed, paused and
 * cut off.
 */
package org.traceetl.perf.systest.chaos;
