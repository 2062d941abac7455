package org.traceetl.perf.simulate.broker;

import java.util.concurrent.TimeUnit;
import org.apache.rocketmq.client.consumer.PullStatus;
import org.apache.rocketmq.client.exception.MQBrokerException;
import org.apache.rocketmq.client.exception.MQClientException;
import org.apache.rocketmq.common.message.MessageExt;
import org.apache.rocketmq.common.message.MessageQueue;
import org.apache.rocketmq.remoting.exception.RemotingException;
import org.traceetl.server.consume.broker.BrokerOffsets;

/** Offsets at the simulated brokers, with the timeouts and exceptions of RocketMqOffsets. */
final class SimulatedOffsets implements BrokerOffsets {
  /** MQAdminImpl.timeoutMillis, and that of RocketMqOffsets. */
  private static final long TIMEOUT_NANOS = TimeUnit.SECONDS.toNanos(6);

  /** RemoteBrokerOffsetStore uses 5 s. */
  private static final long STORE_TIMEOUT_NANOS = TimeUnit.SECONDS.toNanos(5);

  private final Client client;
  private final String group;

  SimulatedOffsets(Client client, String group) {
    this.client = client;
    this.group = group;
  }

  @Override
  public Range of(MessageQueue queue) throws MQClientException {
    return new Range(min(queue), max(queue), committed(queue));
  }

  private <T> T ask(String what, MessageQueue queue, Reply.Request<T> request)
      throws MQClientException {
    try {
      String address = client.knownMaster(queue.getBrokerName());
      return client.call(what, address, TIMEOUT_NANOS, request);
    } catch (RemotingException | MQBrokerException e) {
      throw new MQClientException("Invoke Broker[" + queue.getBrokerName() + "] exception", e);
    } catch (InterruptedException e) {
      throw interrupted(queue, e);
    }
  }

  private static MQClientException interrupted(MessageQueue queue, InterruptedException e) {
    Thread.currentThread().interrupt();
    return new MQClientException("interrupted while the broker of " + queue + " was asked", e);
  }

  long min(MessageQueue queue) throws MQClientException {
    LogQueue its = client.queue(queue);
    return ask("min", queue, (broker, to) -> to.answer(Reply.of(broker.store().min(its))));
  }

  @Override
  public long max(MessageQueue queue) throws MQClientException {
    LogQueue its = client.queue(queue);
    return ask("max", queue, (broker, to) -> to.answer(Reply.of(broker.store().max(its))));
  }

  @Override
  public MessageExt message(MessageQueue queue, long offset) throws MQClientException {
    LogQueue its = client.queue(queue);
    String master = address(queue);
    if (master == null) {
      throw new MQClientException("no name server knows a master of " + queue, null);
    }
    try {
      Pulled pulled =
          client.call(
              "message",
              master,
              TIMEOUT_NANOS,
              (broker, to) -> to.answer(Reply.of(broker.pull(its, offset, 1))));
      return pulled.status() == PullStatus.FOUND
          ? pulled
              .messages()
              .getFirst()
              .received(queue, Long.toString(pulled.min()), Long.toString(pulled.max()))
          : null;
    } catch (RemotingException | MQBrokerException e) {
      throw new MQClientException("the broker does not return a message of " + queue, e);
    } catch (InterruptedException e) {
      throw interrupted(queue, e);
    }
  }

  @Override
  public String address(MessageQueue queue) {
    return client.master(queue.getBrokerName());
  }

  @Override
  public long committed(MessageQueue queue) throws MQClientException {
    try {
      return stored(queue);
    } catch (RemotingException | MQBrokerException | MQClientException e) {
      // The client's store keeps the reason to itself.
      throw new MQClientException(
          "the broker does not return the group's offset of " + queue, null);
    } catch (InterruptedException e) {
      throw interrupted(queue, e);
    }
  }

  private long stored(MessageQueue queue)
      throws RemotingException, MQBrokerException, MQClientException, InterruptedException {
    LogQueue its = client.queue(queue);
    return client.call(
        "committed",
        knownBroker(queue),
        STORE_TIMEOUT_NANOS,
        (broker, to) -> to.answer(Reply.of(offset(broker, its))));
  }

  /** ConsumerManageProcessor.queryConsumerOffset: without an offset, the begin if that is 0. */
  private long offset(Replica broker, LogQueue queue) {
    long offset = broker.offsets.offset(group, queue);
    boolean begins = broker.store().min(queue) == 0 && broker.store().max(queue) > 0;
    return offset == NONE && begins ? 0 : offset;
  }

  /** RemoteBrokerOffsetStore: findBrokerAddressInSubscribe, the master or any other. */
  private String knownBroker(MessageQueue queue) throws MQClientException, InterruptedException {
    NameServer.Route route = client.routes().get(queue.getBrokerName());
    return route == null ? client.knownMaster(queue.getBrokerName()) : route.any();
  }

  @Override
  public void commit(MessageQueue queue, long offset)
      throws RemotingException, MQBrokerException, MQClientException, InterruptedException {
    LogQueue its = client.queue(queue);
    client.call(
        "commit",
        knownBroker(queue),
        STORE_TIMEOUT_NANOS,
        (broker, to) -> {
          broker.offsets.commit(group, its, offset);
          to.answer(Reply.of(offset));
        });
  }
}
