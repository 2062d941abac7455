/** The journal: sealed windows in order. Contracts of its parts, for its writers and readers. */
package org.traceetl.server.journal;
