/** Drops, measures or samples spans, and removes or redacts parts of the spans that are sent. */
package org.traceetl.agent.filter;
