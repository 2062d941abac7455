package org.traceetl.server.journal;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.traceetl.server.window.QueueId;

/** Logs in memory that execute calls at once. Thread-safe. */
public final class MemoryLogs implements JournalLogs {
  private static final int MAX_READ = 32;

  private final Map<QueueId, MemoryLog> logs = new ConcurrentHashMap<>();

  @Override
  public MemoryLog open(QueueId queue) {
    return logs.computeIfAbsent(queue, absent -> new MemoryLog());
  }

  /** Returns the queues whose log was opened. */
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

    /** Adds another process's message. */
    public synchronized long store(byte[] message) {
      messages.add(message.clone());
      return end() - 1;
    }

    /**
     * Sets whether it stores messages without confirming them, as a master without replicas does.
     */
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

    /** Deletes as the broker's retention does. */
    public synchronized void deleteBefore(long offset) {
      begin = offset;
    }

    /** Deletes as a crash of the broker's machine does. */
    public synchronized void deleteFrom(long offset) {
      messages.subList((int) offset, messages.size()).clear();
    }

    public synchronized void unmark(String group) {
      marks.remove(group);
    }
  }
}
