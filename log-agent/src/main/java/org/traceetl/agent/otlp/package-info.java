/** Writes spans that did not arrive as OTLP as trace requests of OTLP. */
package org.traceetl.agent.otlp;
