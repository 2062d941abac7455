/** The comparison of counters of two sides, from their raw samples in Prometheus. */
package org.traceetl.server.compare;
