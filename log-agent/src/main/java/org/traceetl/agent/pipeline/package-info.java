/** Turns accepted payloads into named batches by resource and queue, and completes the payloads. */
package org.traceetl.agent.pipeline;
