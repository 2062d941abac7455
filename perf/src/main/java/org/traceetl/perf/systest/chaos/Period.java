package org.traceetl.perf.systest.chaos;

/** A period of the wall clock, in milliseconds since 1970. */
record Period(long fromMillis, long toMillis) {}
