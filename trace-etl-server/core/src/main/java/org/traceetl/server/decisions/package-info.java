/** The topic of decisions: where they stand, and how they are read, written and signed. */
package org.traceetl.server.decisions;
