/** Decides to which queues agents send half-edges, and publishes the list. */
package org.traceetl.server.features.edges;
