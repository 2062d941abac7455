/** The trace index: writes and searches the documents of slow, failed and exemplar spans. */
package org.traceetl.server.features.index;
