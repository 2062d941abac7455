/** Chooses the queue of a span: an application has few queues, a series one. */
package org.traceetl.agent.route;
