/** Writes the spans of an OpenTelemetry SDK for the host's log-agent. */
package org.traceetl.exporter;
