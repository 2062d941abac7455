/** Decides which half-edge of the service graph a span leaves. */
package org.traceetl.agent.edge;
