/** The trace index: the documents of slow, failed and exemplar spans, written and searched. */
package org.traceetl.server.features.index;
