/** Forwards accepted OTLP trace requests unchanged to other receivers, from a buffer on disk. */
package org.traceetl.agent.forward;
