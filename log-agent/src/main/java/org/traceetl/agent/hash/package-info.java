/** Implements XXH64, for routing and for series that need an exemplar. */
package org.traceetl.agent.hash;
