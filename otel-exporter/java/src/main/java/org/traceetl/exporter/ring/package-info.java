/** Writes spans into a file that is shared with the log-agent, as docs/ring.md describes it. */
package org.traceetl.exporter.ring;
