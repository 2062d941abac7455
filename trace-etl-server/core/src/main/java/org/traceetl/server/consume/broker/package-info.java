/** The consumer of spans at the broker: assignment, pulls, offsets. */
package org.traceetl.server.consume.broker;
