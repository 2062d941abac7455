/** The span topic: pulling workers, their queues, and the commits of offsets. */
package org.traceetl.server.consume;
