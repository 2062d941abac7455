/** Which queue a span goes to: an application lives on few queues, a series on one. */
package org.traceetl.agent.route;
