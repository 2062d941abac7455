/**
 * What sources and the pipeline say to one another: payloads in, decoded spans on, outcomes back.
 */
package org.traceetl.agent.flow;
