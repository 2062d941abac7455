/** Reads messages that the broker retains, outside the consumer group. */
package org.traceetl.server.consume.retained;
