/**
 * Pushes the series of owned queues, as the journal has them, to receivers of Prometheus Remote
 * Write and OTLP.
 */
package org.traceetl.server.features.push;
