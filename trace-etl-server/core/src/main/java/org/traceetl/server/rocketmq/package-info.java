/** Credentials and TLS of RocketMQ's clients, and the endpoints that they announce. */
package org.traceetl.server.rocketmq;
