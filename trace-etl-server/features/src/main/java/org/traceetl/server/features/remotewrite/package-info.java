/** Pushes the series of owned queues, as the journal has them, to Prometheus Remote Write. */
package org.traceetl.server.features.remotewrite;
