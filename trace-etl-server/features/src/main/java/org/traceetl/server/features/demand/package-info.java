/** Tells agents which attributes of spans, and which spans as a whole, servers need. */
package org.traceetl.server.features.demand;
