/** Reads OzHera's trace logs as they are written, rotated and truncated. */
package org.traceetl.agent.source.file;
