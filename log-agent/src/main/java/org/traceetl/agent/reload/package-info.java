/** Has what stands in files read anew while the agent runs. */
package org.traceetl.agent.reload;
