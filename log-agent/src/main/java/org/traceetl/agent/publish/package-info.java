/** Sends named batches to the broker until it confirms them. */
package org.traceetl.agent.publish;
