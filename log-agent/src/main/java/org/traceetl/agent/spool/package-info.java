/** Stores accepted batches on disk until the broker confirms them, with the sources' positions. */
package org.traceetl.agent.spool;
