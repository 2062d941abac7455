/** The queues of the fleet: how far they go, who owns them, and those that this server reads. */
package org.traceetl.server.queues;
