package org.traceetl.server.features.index;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Semaphore;
import org.traceetl.server.window.TraceDocument;

/** An index that fails as told: what a real one does only when its disk or its network breaks. */
final class ScriptedIndex implements TraceIndex {
  /** What a write does. */
  interface Answer {
    WriteResult to(List<TraceDocument> documents) throws IOException;
  }

  private final ConcurrentLinkedQueue<Answer> script = new ConcurrentLinkedQueue<>();
  private final Semaphore writes = new Semaphore(0);
  private final List<TraceDocument> kept = new ArrayList<>();
  private final List<Integer> batches = new ArrayList<>();
  private volatile boolean held;
  private volatile boolean failing;
  private volatile TraceDocument poison;
  private volatile RuntimeException fault;

  /** The next writes answer so, one each; then all documents are kept. */
  void answer(Answer... answers) {
    script.addAll(List.of(answers));
  }

  /** Writes fail from now on, or do no more. */
  void fail(boolean failing) {
    this.failing = failing;
  }

  /** Writes with this document end by a fault from now on. */
  void refuseWith(TraceDocument document, RuntimeException fault) {
    this.fault = fault;
    poison = document;
  }

  /** Writes wait from now on. */
  void hold() {
    held = true;
  }

  void release() {
    held = false;
    writes.release(1_000_000);
  }

  synchronized List<TraceDocument> kept() {
    return List.copyOf(kept);
  }

  synchronized List<Integer> batches() {
    return List.copyOf(batches);
  }

  @Override
  public WriteResult write(List<TraceDocument> documents) throws IOException {
    if (held) {
      writes.acquireUninterruptibly();
    }
    synchronized (this) {
      batches.add(documents.size());
      if (failing) {
        throw new IOException("away");
      }
      if (documents.contains(poison)) {
        throw fault;
      }
      Answer answer = script.poll();
      if (answer == null) {
        kept.addAll(documents);
        return WriteResult.kept(documents.size());
      }
      return answer.to(documents);
    }
  }

  @Override
  public TracePage search(TraceQuery query) {
    return new TracePage(kept(), null);
  }

  @Override
  public boolean healthy() {
    return true;
  }

  @Override
  public void close() {
    release();
  }
}
