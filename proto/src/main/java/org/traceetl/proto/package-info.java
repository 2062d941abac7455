/**
 * The wire formats of spans, read in place: batches of log-agent with a dictionary, of spans and of
 * half-edges, and single spans of OzHera.
 */
package org.traceetl.proto;
