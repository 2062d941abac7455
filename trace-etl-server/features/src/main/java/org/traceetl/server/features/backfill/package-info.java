/** Counts retained messages of an application by other rules, as files for Prometheus. */
package org.traceetl.server.features.backfill;
