/** Reloads files while the agent runs. */
package org.traceetl.agent.reload;
