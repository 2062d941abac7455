/** De-duplication: which batches of which agents were taken, by their names. */
package org.traceetl.server.dedup;
