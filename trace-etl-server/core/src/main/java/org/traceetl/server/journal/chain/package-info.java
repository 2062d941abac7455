/** A queue's journal in a log: who owns the queue, which windows count, and how they are read. */
package org.traceetl.server.journal.chain;
