/** Brings named batches to the broker, however often it takes, and tells when they are there. */
package org.traceetl.agent.publish;
