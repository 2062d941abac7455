/** Forwards accepted spans as OTLP trace requests to other receivers, from a buffer on disk. */
package org.traceetl.agent.forward;
