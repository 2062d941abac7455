/** Turns accepted payloads into named batches by resource and queue, and settles the payloads. */
package org.traceetl.agent.pipeline;
