/** A simulated RocketMQ cluster, and its clients behind the interfaces of agents and servers. */
package org.traceetl.perf.simulate.broker;
