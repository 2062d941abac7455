/** Accesses the disk under the agent's state, spool and rules. */
package org.traceetl.agent.disk;
