/** Reads spans from the rings that the host's applications share with the agent. */
package org.traceetl.agent.source.ring;
