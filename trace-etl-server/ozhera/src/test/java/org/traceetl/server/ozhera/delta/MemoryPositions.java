package org.traceetl.server.ozhera.delta;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.traceetl.server.journal.JournalLog;
import org.traceetl.server.journal.QueueImage;
import org.traceetl.server.ozhera.delta.positions.ScraperPositions;
import org.traceetl.server.window.QueueId;
import org.traceetl.server.window.SealedWindow;

/** What brokers keep, in memory: several servers may share it. Safe for any thread. */
public final class MemoryPositions implements ScraperPositions {
  /** So many windows after one snapshot comes the next. */
  private static final int SNAPSHOT_WINDOWS = 4;

  private final Map<String, Long> marks = new HashMap<>();
  private final Map<QueueId, List<SealedWindow>> windows = new HashMap<>();

  /** Windows of a queue that its journal no longer has. */
  private final Map<QueueId, Integer> deleted = new HashMap<>();

  private boolean broken;
  private int lost;
  private long schema;

  /** Reads of journals wait for it. */
  private volatile CountDownLatch reads = new CountDownLatch(0);

  /** The journal has a window. */
  public synchronized void keep(SealedWindow window) {
    windows.computeIfAbsent(window.queue(), absent -> new ArrayList<>()).add(window);
  }

  /** As when servers of another configuration are installed. */
  synchronized void setSchema(long now) {
    schema = now;
  }

  /** All that the journal's windows of a queue add up to. */
  public synchronized QueueImage image(QueueId queue, int stride) {
    QueueImage image = new QueueImage(schema, stride, 1);
    windows.getOrDefault(queue, List.of()).forEach(image::apply);
    return image;
  }

  /** As when the broker has deleted its oldest messages. */
  synchronized void delete(QueueId queue, int oldest) {
    deleted.put(queue, oldest);
  }

  /** As when no broker answers. */
  synchronized void setBroken(boolean now) {
    broken = now;
  }

  /** As when so many marks are acknowledged, and gone at once. */
  synchronized void loseMarks(int marks) {
    lost = marks;
  }

  /** Makes reads of journals wait. */
  void holdReads(CountDownLatch until) {
    reads = until;
  }

  synchronized Map<String, Long> marks() {
    return Map.copyOf(marks);
  }

  @Override
  public synchronized long load(QueueId queue, String group) throws IOException {
    check();
    return marks.getOrDefault(queue + " " + group, JournalLog.NONE);
  }

  @Override
  public synchronized void store(QueueId queue, String group, long offset) throws IOException {
    check();
    if (lost > 0) {
      lost--;
      return;
    }
    marks.put(queue + " " + group, offset);
  }

  private void check() throws IOException {
    if (broken) {
      throw new IOException("no broker answers");
    }
  }

  @Override
  public void read(
      QueueId queue, long sinceMillis, Consumer<QueueImage> snapshots, Predicate<SealedWindow> told)
      throws IOException {
    List<SealedWindow> all;
    int from;
    int oldest;
    long now;
    synchronized (this) {
      check();
      all = List.copyOf(windows.getOrDefault(queue, List.of()));
      oldest = deleted.getOrDefault(queue, 0);
      now = schema;
    }
    from = oldest;
    while (from < all.size() && all.get(from).sealedMillis() < sinceMillis) {
      from++;
    }
    boolean sure = from == 0;
    for (int next = from; next < all.size(); next++) {
      if (!sure && (next == oldest || next % SNAPSHOT_WINDOWS == 0)) {
        sure = true;
        QueueImage image = new QueueImage(now, all.getFirst().stride(), 1);
        all.subList(0, next).forEach(image::apply);
        snapshots.accept(image);
      }
      if (!told.test(all.get(next))) {
        return;
      }
    }
  }
}
