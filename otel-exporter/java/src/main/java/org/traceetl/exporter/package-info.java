/**
 * Sends an application's spans to the host's log-agent: those of OpenTelemetry's SDK, or those of a
 * tracer provider of its own.
 */
package org.traceetl.exporter;
