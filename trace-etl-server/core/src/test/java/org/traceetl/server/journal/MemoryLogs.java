package org.traceetl.server.journal;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.traceetl.server.window.QueueId;

/** Logs in memory that do what they are told, at once. Safe for any thread. */
public final class MemoryLogs implements JournalLogs {
  private static final int MAX_READ = 32;

  private final Map<QueueId, MemoryLog> logs = new ConcurrentHashMap<>();

  @Override
  public MemoryLog open(QueueId queue) {
    return logs.computeIfAbsent(queue, absent -> new MemoryLog());
  }

  /** Those whose log was opened. */
  public Set<QueueId> queues() {
    return Set.copyOf(logs.keySet());
  }

  @Override
  public void close() {}

  /** One queue's log. */
  public static final class MemoryLog implements JournalLog {
    private final List<byte[]> messages = new ArrayList<>();
    private final Map<String, Long> marks = new HashMap<>();
    private long begin;
    private boolean unconfirmed;

    @Override
    public synchronized long append(byte[] message) throws IOException {
      long offset = store(message);
      if (unconfirmed) {
        throw new IOException("not confirmed");
      }
      return offset;
    }

    /** Adds a message that somebody else has sent. */
    public synchronized long store(byte[] message) {
      messages.add(message.clone());
      return end() - 1;
    }

    /** Whether it stores messages without confirming them, as a master does without replicas. */
    public synchronized void leaveUnconfirmed(boolean leave) {
      unconfirmed = leave;
    }

    @Override
    public synchronized List<Entry> read(long from) {
      List<Entry> entries = new ArrayList<>();
      for (long offset = Math.max(from, begin);
          offset < messages.size() && entries.size() < MAX_READ;
          offset++) {
        entries.add(new Entry(offset, messages.get((int) offset)));
      }
      return entries;
    }

    @Override
    public synchronized long begin() {
      return begin;
    }

    @Override
    public synchronized long end() {
      return messages.size();
    }

    @Override
    public synchronized long mark(String group) {
      return marks.getOrDefault(group, NONE);
    }

    @Override
    public synchronized void mark(String group, long offset) {
      marks.put(group, offset);
    }

    /** As when the broker's retention has passed. */
    public synchronized void deleteBefore(long offset) {
      begin = offset;
    }

    /** As when the broker's machine has crashed. */
    public synchronized void deleteFrom(long offset) {
      messages.subList((int) offset, messages.size()).clear();
    }

    /** Forgets a group's mark. */
    public synchronized void unmark(String group) {
      marks.remove(group);
    }
  }
}
