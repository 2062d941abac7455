/** Accesses the disk under the agent's state and spool. */
package org.traceetl.agent.disk;
