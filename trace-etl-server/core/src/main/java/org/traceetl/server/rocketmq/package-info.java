/** How RocketMQ's clients prove who they are, and have the brokers do so. */
package org.traceetl.server.rocketmq;
