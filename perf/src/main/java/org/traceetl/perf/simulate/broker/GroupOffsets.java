package org.traceetl.perf.simulate.broker;

import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.traceetl.perf.simulate.world.Durable;

/**
 * The offsets of consumer groups at one broker: ConsumerOffsetManager of RocketMQ 5.5.0. They are
 * written to the disk every 5 s (BrokerConfig.flushConsumerOffsetInterval), so a crash sets them
 * back.
 */
final class GroupOffsets implements Durable {
  static final long NONE = -1;

  private Map<String, Map<LogQueue, Long>> offsets = new TreeMap<>();
  private Map<String, Map<LogQueue, Long>> written = new TreeMap<>();
  private boolean changed;

  /** Returns a group's offset, or {@link #NONE}. */
  long offset(String group, LogQueue queue) {
    Map<LogQueue, Long> its = offsets.get(group);
    return its == null ? NONE : its.getOrDefault(queue, NONE);
  }

  /**
   * Returns whether a group has still to read the message: brokers must keep messages for longer
   * than servers need to write a snapshot. All groups of a topic read its journal, even if they
   * have no offset there yet; decisions are read without a group.
   */
  boolean isNeeded(Message message) {
    LogQueue queue = message.queue();
    List<Map<LogQueue, Long>> groups =
        offsets.values().stream()
            .filter(its -> its.keySet().stream().anyMatch(one -> reads(one.topic(), queue.topic())))
            .toList();
    return queue.topic() != Topics.DECISIONS
        && (groups.isEmpty()
            || groups.stream().anyMatch(its -> message.offset() >= its.getOrDefault(queue, NONE)));
  }

  /** Returns whether a group with an offset in a topic also reads another one, or the same. */
  private static boolean reads(int known, int topic) {
    return known == topic || Topics.isJournal(topic) && known == Topics.source(topic);
  }

  void commit(String group, LogQueue queue, long offset) {
    offsets.computeIfAbsent(group, name -> new HashMap<>()).put(queue, offset);
    changed = true;
  }

  void write() {
    if (changed) {
      written = copy(offsets);
      changed = false;
    }
  }

  /** Returns to what was written last. */
  void crash() {
    offsets = copy(written);
    changed = false;
  }

  /** Takes the offsets of the master: SlaveSynchronize.syncConsumerOffset. */
  void copyFrom(GroupOffsets master) {
    offsets = copy(master.offsets);
    changed = true;
  }

  @Override
  public void write(DataOutputStream to) throws IOException {
    to.writeInt(offsets.size());
    for (Map.Entry<String, Map<LogQueue, Long>> group : offsets.entrySet()) {
      to.writeUTF(group.getKey());
      to.writeInt(group.getValue().size());
      for (Map.Entry<LogQueue, Long> queue : group.getValue().entrySet()) {
        to.writeInt(queue.getKey().topic());
        to.writeInt(queue.getKey().queue());
        to.writeLong(queue.getValue());
      }
    }
  }

  @Override
  public void read(DataInputStream from) throws IOException {
    for (int groups = from.readInt(); groups > 0; groups--) {
      String group = from.readUTF();
      for (int left = from.readInt(); left > 0; left--) {
        commit(group, new LogQueue(from.readInt(), from.readInt()), from.readLong());
      }
    }
    write();
  }

  private static Map<String, Map<LogQueue, Long>> copy(Map<String, Map<LogQueue, Long>> from) {
    Map<String, Map<LogQueue, Long>> copy = new TreeMap<>();
    from.forEach((group, its) -> copy.put(group, new HashMap<>(its)));
    return copy;
  }
}
