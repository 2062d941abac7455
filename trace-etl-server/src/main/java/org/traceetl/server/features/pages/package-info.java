/**
 * The pages of all series for Prometheus: {@code /metrics} in all profiles with cumulative
 * counters.
 */
package org.traceetl.server.features.pages;
