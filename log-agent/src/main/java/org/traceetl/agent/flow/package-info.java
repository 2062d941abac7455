/** Defines the contract between sources and the pipeline: payloads, decoded spans, outcomes. */
package org.traceetl.agent.flow;
