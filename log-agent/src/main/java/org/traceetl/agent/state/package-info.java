/** Keeps the agent's identity and small files on disk across restarts. */
package org.traceetl.agent.state;
