/** The service graph of the fleet: requests between applications in the last hour, by minute. */
package org.traceetl.server.features.graph;
