/** Payload arrays and value texts, shared by several sources. */
package org.traceetl.agent.source.payload;
