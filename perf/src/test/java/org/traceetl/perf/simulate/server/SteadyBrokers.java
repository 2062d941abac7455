package org.traceetl.perf.simulate.server;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.LongPredicate;
import org.apache.rocketmq.client.consumer.rebalance.AllocateMessageQueueAveragely;
import org.apache.rocketmq.client.exception.MQClientException;
import org.apache.rocketmq.common.message.MessageExt;
import org.apache.rocketmq.common.message.MessageQueue;
import org.traceetl.common.Clocks;
import org.traceetl.perf.simulate.world.Process;
import org.traceetl.perf.simulate.world.World;
import org.traceetl.server.assembly.Brokers;
import org.traceetl.server.config.RocketMqConfig;
import org.traceetl.server.consume.BrokerOffsets;
import org.traceetl.server.consume.SpanConsumer;
import org.traceetl.server.journal.BrokerLogs;
import org.traceetl.server.journal.JournalLog;
import org.traceetl.server.rocketmq.Announcement;
import org.traceetl.server.rocketmq.Endpoint;
import org.traceetl.server.window.QueueId;

/** A broker without faults, for tests of the servers of a simulated world. */
final class SteadyBrokers {
  private static final String BROKER = "broker-a";
  private static final String TOPIC = "trace-spans";
  private static final InetSocketAddress MASTER = master();
  private static final long CALL_NANOS = TimeUnit.MILLISECONDS.toNanos(1);
  private static final long LEFT_NANOS = TimeUnit.SECONDS.toNanos(20);
  private static final int PULL = 32;

  private final World world;
  private final List<List<MessageExt>> spans = new ArrayList<>();
  private final List<MessageQueue> queues = new ArrayList<>();
  private final Map<MessageQueue, Long> committed = new TreeMap<>();
  private final Map<String, Log> logs = new TreeMap<>();
  private final Map<String, Member> members = new TreeMap<>();

  SteadyBrokers(World world, int queueCount) {
    this.world = world;
    for (int queue = 0; queue < queueCount; queue++) {
      spans.add(new ArrayList<>());
      queues.add(new MessageQueue(TOPIC, BROKER, queue));
    }
  }

  private static InetSocketAddress master() {
    try {
      return new InetSocketAddress(InetAddress.getByAddress(new byte[] {10, 0, 0, 1}), 10911);
    } catch (UnknownHostException e) {
      throw new AssertionError(e);
    }
  }

  void put(int queue, byte[] body) {
    MessageExt message = new MessageExt();
    message.setTopic(TOPIC);
    message.setBrokerName(BROKER);
    message.setQueueId(queue);
    message.setQueueOffset(spans.get(queue).size());
    message.setStoreTimestamp(world.unixMillis());
    message.setStoreHost(MASTER);
    message.setBody(body);
    spans.get(queue).add(message);
  }

  /** Returns the client of a process. */
  Brokers of(Process process) {
    return new Brokers() {
      @Override
      public SpanConsumer.Connector consumers(RocketMqConfig config, Clocks clocks) {
        return (worker, endpoint, pullThreads, assigned) ->
            new Member(process, worker, endpoint, assigned);
      }

      @Override
      public BrokerLogs logs(RocketMqConfig config, String topic, Duration timeout, Clocks clocks) {
        return new Logs(process, topic);
      }
    };
  }

  private void rebalance() {
    members.values().removeIf(member -> !member.process.alive());
    List<String> names = List.copyOf(members.keySet());
    for (Member member : members.values()) {
      member.assign(
          new TreeSet<>(
              new AllocateMessageQueueAveragely().allocate("group", member.name, queues, names)));
    }
  }

  private void call(Process process, String operation) throws InterruptedException {
    process.enter(operation);
    world.sleep(CALL_NANOS);
  }

  private void ask(Process process, String operation) throws MQClientException {
    try {
      call(process, operation);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new MQClientException("interrupted", e);
    }
  }

  /** A member of the consumer group. The broker detects the end of its process late. */
  private final class Member implements SpanConsumer, BrokerOffsets {
    private final Process process;
    private final String name;
    private final Consumer<Set<MessageQueue>> assigned;
    private final Map<MessageQueue, Integer> positions = new TreeMap<>();
    private Set<MessageQueue> mine;
    private long rebalances;
    private int turn;

    Member(Process process, int worker, Endpoint endpoint, Consumer<Set<MessageQueue>> assigned) {
      this.process = process;
      this.assigned = assigned;
      name = Announcement.instance(process.name() + "-" + worker, endpoint) + "@STREAM";
      members.put(name, this);
      world.after(CALL_NANOS, SteadyBrokers.this::rebalance);
      watch();
    }

    private void watch() {
      world.after(
          LEFT_NANOS,
          () -> {
            if (!process.alive()) {
              rebalance();
            } else if (members.get(name) == this) {
              watch();
            }
          });
    }

    private void assign(Set<MessageQueue> share) {
      rebalances++;
      if (!share.equals(mine)) {
        mine = share;
        positions.keySet().retainAll(share);
        assigned.accept(share);
      }
    }

    @Override
    public int queueCount() throws MQClientException {
      ask(process, "queue count");
      return queues.size();
    }

    @Override
    public List<MessageExt> poll(long timeoutMillis) {
      process.enter("poll");
      List<MessageQueue> sought = List.copyOf(positions.keySet());
      for (int i = 0; i < sought.size(); i++) {
        MessageQueue queue = sought.get(turn++ % sought.size());
        int from = positions.get(queue);
        List<MessageExt> all = spans.get(queue.getQueueId());
        if (from < all.size()) {
          int to = Math.min(all.size(), from + PULL);
          positions.put(queue, to);
          return List.copyOf(all.subList(from, to));
        }
      }
      try {
        world.sleep(TimeUnit.MILLISECONDS.toNanos(timeoutMillis));
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
      return List.of();
    }

    @Override
    public void seek(MessageQueue queue, long offset, String comparedAt) {
      if (mine.contains(queue)) {
        positions.put(queue, (int) offset);
      }
    }

    @Override
    public LongPredicate resumedPulls(MessageQueue queue) {
      return offset -> false;
    }

    @Override
    public BrokerOffsets offsets() {
      return this;
    }

    @Override
    public long rebalances() {
      return rebalances;
    }

    @Override
    public Set<MessageQueue> queues() {
      return mine;
    }

    @Override
    public boolean isWithheld(MessageQueue queue) {
      return false;
    }

    @Override
    public void rebalance() {
      SteadyBrokers.this.rebalance();
    }

    @Override
    public void close() {
      members.remove(name);
      world.after(CALL_NANOS, SteadyBrokers.this::rebalance);
    }

    @Override
    public Range of(MessageQueue queue) throws MQClientException {
      ask(process, "offsets");
      return new Range(
          0, spans.get(queue.getQueueId()).size(), committed.getOrDefault(queue, NONE));
    }

    @Override
    public MessageExt message(MessageQueue queue, long offset) throws MQClientException {
      ask(process, "message");
      return spans.get(queue.getQueueId()).get((int) offset);
    }

    @Override
    public String address(MessageQueue queue) {
      return MASTER.toString();
    }

    @Override
    public long max(MessageQueue queue) throws MQClientException {
      ask(process, "end");
      return spans.get(queue.getQueueId()).size();
    }

    @Override
    public long committed(MessageQueue queue) throws MQClientException {
      ask(process, "committed");
      return committed.getOrDefault(queue, NONE);
    }

    @Override
    public void commit(MessageQueue queue, long offset) throws MQClientException {
      ask(process, "commit");
      committed.put(queue, offset);
    }
  }

  /** The messages and marks of one queue of a topic. */
  private record Log(List<byte[]> messages, Map<String, Long> marks) {}

  private record OpenLog(SteadyBrokers brokers, Process process, Log log) implements JournalLog {
    private static final int READ = 64;

    @Override
    public long append(byte[] message) throws InterruptedException {
      brokers.call(process, "append");
      log.messages.add(message.clone());
      return log.messages.size() - 1L;
    }

    @Override
    public List<Entry> read(long from) throws InterruptedException {
      brokers.call(process, "read");
      List<Entry> entries = new ArrayList<>();
      for (long at = from; at < log.messages.size() && entries.size() < READ; at++) {
        entries.add(new Entry(at, log.messages.get((int) at)));
      }
      return entries;
    }

    @Override
    public long begin() {
      return 0;
    }

    @Override
    public long end() throws InterruptedException {
      brokers.call(process, "journal end");
      return log.messages.size();
    }

    @Override
    public long mark(String group) throws InterruptedException {
      brokers.call(process, "mark of");
      return log.marks.getOrDefault(group, NONE);
    }

    @Override
    public void mark(String group, long offset) throws InterruptedException {
      brokers.call(process, "mark");
      log.marks.put(group, offset);
    }
  }

  private final class Logs implements BrokerLogs {
    private final Process process;
    private final String topic;

    Logs(Process process, String topic) {
      this.process = process;
      this.topic = topic;
    }

    @Override
    public void start() {
      // Needs no client.
    }

    @Override
    public JournalLog open(QueueId queue) {
      return open(topic, queue);
    }

    @Override
    public JournalLog open(String other, QueueId queue) {
      return new OpenLog(
          SteadyBrokers.this,
          process,
          logs.computeIfAbsent(
              other + "/" + queue, absent -> new Log(new ArrayList<>(), new TreeMap<>())));
    }

    @Override
    public QueueId lowest(String other) {
      return new QueueId(BROKER, 0);
    }

    @Override
    public Set<QueueId> queues() {
      Set<QueueId> all = new TreeSet<>();
      queues.forEach(queue -> all.add(new QueueId(BROKER, queue.getQueueId())));
      return all;
    }

    @Override
    public Set<QueueId> spanQueues() {
      return queues();
    }

    @Override
    public Set<QueueId> readableSpanQueues() {
      return queues();
    }

    @Override
    public Set<String> members() throws InterruptedException {
      call(process, "members");
      return new TreeSet<>(members.keySet());
    }

    @Override
    public void close() {
      // Has no client.
    }
  }
}
