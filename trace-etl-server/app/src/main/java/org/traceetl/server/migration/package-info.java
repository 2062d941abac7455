/**
 * The translation of configurations of the OpenTelemetry Collector and of Grafana Tempo into one of
 * this server.
 */
package org.traceetl.server.migration;
