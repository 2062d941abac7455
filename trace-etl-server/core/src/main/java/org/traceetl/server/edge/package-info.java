/** The service graph: half-edges of one queue and their pairs. */
package org.traceetl.server.edge;
