/** Keeps what was accepted on disk until the broker has it, together with the sources' places. */
package org.traceetl.agent.spool;
