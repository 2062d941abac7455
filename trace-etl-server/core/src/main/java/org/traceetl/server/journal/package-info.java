/** The journal: sealed windows in order, and their readers. */
package org.traceetl.server.journal;
