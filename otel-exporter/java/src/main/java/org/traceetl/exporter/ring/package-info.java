/** Writes spans into a file shared with the log-agent, as docs/ring.md describes. */
package org.traceetl.exporter.ring;
