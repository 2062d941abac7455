package org.traceetl.perf.simulate.broker;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.rocketmq.client.exception.MQBrokerException;
import org.apache.rocketmq.client.exception.MQClientException;
import org.apache.rocketmq.client.producer.SendStatus;
import org.apache.rocketmq.common.message.MessageExt;
import org.apache.rocketmq.common.message.MessageQueue;
import org.apache.rocketmq.remoting.exception.RemotingException;
import org.traceetl.perf.simulate.broker.Replica.Appended;
import org.traceetl.server.journal.JournalLog;
import org.traceetl.server.journal.NoAnswerException;
import org.traceetl.server.window.QueueId;

/** A queue at the master of a simulated broker, accessed with the rules of RocketMqLog. */
final class SimulatedLog implements JournalLog {
  private static final int MAX_MESSAGES = 32;

  private final Client client;
  private final QueueId id;
  private final String topic;
  private final LogQueue queue;
  private final long timeoutNanos;

  /** Address of the master that calls go to; null before the first call and after a failure. */
  private String master;

  private boolean failed;

  SimulatedLog(Client client, String topic, QueueId id, long timeoutNanos) {
    this.client = client;
    this.id = id;
    this.topic = topic;
    queue = client.topics.queue(topic, id.queue());
    this.timeoutNanos = timeoutNanos;
  }

  private <T> T call(String what, Reply.Request<T> request)
      throws IOException, InterruptedException {
    try {
      return client.call(what, broker(), timeoutNanos, request);
    } catch (MQBrokerException e) {
      throw failed(new IOException(message(what), e));
    } catch (MQClientException | RemotingException e) {
      throw failed(new NoAnswerException(message(what), e));
    }
  }

  private IOException failed(IOException failure) {
    master = null;
    failed = true;
    return failure;
  }

  private String message(String what) {
    return "Topic " + topic + ", queue " + id + ": " + what + " failed";
  }

  private String broker() throws MQClientException, InterruptedException {
    if (failed || client.master(id.broker()) == null) {
      client.refresh();
      failed = false;
    }
    String address = client.master(id.broker());
    if (address == null || queue == null) {
      throw new MQClientException("no name server knows a master of this broker", null);
    }
    if (master != null && !master.equals(address)) {
      throw new MQClientException(
          "the broker's master is now " + address + ", no longer " + master, null);
    }
    master = address;
    return address;
  }

  @Override
  public long append(byte[] message) throws IOException, InterruptedException {
    long bornMillis = client.process.clocks().millis();
    Appended appended =
        call(
            "appending",
            (broker, to) -> broker.append(queue, message, null, bornMillis, client.host, to));
    if (appended.status() != SendStatus.SEND_OK) {
      throw failed(
          new IOException(
              message("appending")
                  + ": the broker has the message at offset "
                  + appended.offset()
                  + " and did not confirm it, "
                  + appended.status()));
    }
    return appended.offset();
  }

  @Override
  public List<Entry> read(long from) throws IOException, InterruptedException {
    Pulled pulled = pull(from);
    List<Entry> entries = new ArrayList<>();
    for (Message message : pulled == null ? List.<Message>of() : pulled.messages()) {
      entries.add(new Entry(message.offset(), message.body()));
    }
    return entries;
  }

  /** As {@link #read}, with store times and properties. */
  List<MessageExt> messages(long from) throws IOException, InterruptedException {
    Pulled pulled = pull(from);
    List<MessageExt> messages = new ArrayList<>();
    for (Message message : pulled == null ? List.<Message>of() : pulled.messages()) {
      messages.add(
          message.received(
              new MessageQueue(topic, id.broker(), id.queue()),
              Long.toString(pulled.min()),
              Long.toString(pulled.max())));
    }
    return messages;
  }

  /** Returns null if there are no messages. */
  private Pulled pull(long from) throws IOException, InterruptedException {
    long offset = from;
    while (true) {
      long at = offset;
      Pulled pulled =
          call(
              "reading", (broker, to) -> to.answer(Reply.of(broker.pull(queue, at, MAX_MESSAGES))));
      switch (pulled.status()) {
        case FOUND -> {
          return pulled;
        }
        case NO_NEW_MSG -> {
          return null;
        }
        case NO_MATCHED_MSG, OFFSET_ILLEGAL -> {
          if (pulled.next() <= offset) {
            return null;
          }
          offset = pulled.next();
        }
      }
    }
  }

  @Override
  public long begin() throws IOException, InterruptedException {
    return call("begin", (broker, to) -> to.answer(Reply.of(broker.store().min(queue))));
  }

  @Override
  public long end() throws IOException, InterruptedException {
    return call("end", (broker, to) -> to.answer(Reply.of(broker.store().max(queue))));
  }

  @Override
  public long offsetAt(long unixMillis) throws IOException, InterruptedException {
    return call(
        "offset", (broker, to) -> to.answer(Reply.of(broker.store().offsetAt(queue, unixMillis))));
  }

  @Override
  public long mark(String group) throws IOException, InterruptedException {
    return call("mark", (broker, to) -> to.answer(Reply.of(broker.offsets.offset(group, queue))));
  }

  @Override
  public void mark(String group, long offset) throws IOException, InterruptedException {
    call(
        "marking",
        (broker, to) -> {
          broker.offsets.commit(group, queue, offset);
          to.answer(Reply.of(offset));
        });
  }
}
