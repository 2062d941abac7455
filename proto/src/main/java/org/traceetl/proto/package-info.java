/**
 * The wire formats of spans, read in place: our agent's batches over a dictionary, and OzHera's
 * single spans.
 */
package org.traceetl.proto;
