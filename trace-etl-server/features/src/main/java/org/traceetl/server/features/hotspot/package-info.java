/** Automatic hotspots: measures loads, and decides which applications get more or fewer queues. */
package org.traceetl.server.features.hotspot;
