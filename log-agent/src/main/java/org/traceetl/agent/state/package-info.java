/** What the agent keeps on disk across its restarts. */
package org.traceetl.agent.state;
