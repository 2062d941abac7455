/** The topic of decisions: where its records are, and how they are read, written and signed. */
package org.traceetl.server.decisions;
