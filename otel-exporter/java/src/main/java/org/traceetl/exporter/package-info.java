/** Hands the spans of an OpenTelemetry SDK to the log-agent of the host. */
package org.traceetl.exporter;
