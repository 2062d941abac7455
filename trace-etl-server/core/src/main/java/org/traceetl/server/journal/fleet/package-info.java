/** The journals of all queues, whoever owns them, read into the memory of each server. */
package org.traceetl.server.journal.fleet;
