/** The queues of the fleet: their ends, their owners, and the queues that this server reads. */
package org.traceetl.server.queues;
