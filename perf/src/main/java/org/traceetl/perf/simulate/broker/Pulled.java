package org.traceetl.perf.simulate.broker;

import java.util.List;
import org.apache.rocketmq.client.consumer.PullStatus;

/**
 * The result of a pull.
 *
 * @param next offset to continue at
 * @param min offset of the oldest message of the queue
 * @param max offset after its newest message that can be read
 */
record Pulled(PullStatus status, List<Message> messages, long next, long min, long max) {}
