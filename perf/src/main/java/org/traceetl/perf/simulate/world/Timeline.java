package org.traceetl.perf.simulate.world;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Locale;
import java.util.function.LongSupplier;

/**
 * What happened, by simulated time. Keeps the latest notes, and a hash of all notes and operations:
 * two runs with equal hashes took the same course.
 */
public final class Timeline {
  private static final long FNV_PRIME = 0x100000001b3L;
  private static final long NANOS_PER_SECOND = 1_000_000_000L;

  /** A note of a process or of the world. */
  public record Note(long nanos, String who, String what) {
    @Override
    public String toString() {
      long seconds = nanos / NANOS_PER_SECOND;
      return String.format(
          Locale.ROOT,
          "%d:%02d:%02d.%06d %-12s %s",
          seconds / 3600,
          seconds / 60 % 60,
          seconds % 60,
          nanos % NANOS_PER_SECOND / 1000,
          who,
          what);
    }
  }

  private final int most;
  private final Deque<Note> notes = new ArrayDeque<>();
  private LongSupplier nanos = () -> 0;
  private long hash = 0xcbf29ce484222325L;
  private long operations;

  /**
   * @param most notes to keep
   */
  public Timeline(int most) {
    this.most = most;
  }

  void clock(LongSupplier worldNanos) {
    nanos = worldNanos;
  }

  /** Adds a note for readers. */
  public void note(String who, String what) {
    Note note = new Note(nanos.getAsLong(), who, what);
    add(note.nanos, who, what);
    if (notes.size() == most) {
      notes.removeFirst();
    }
    notes.addLast(note);
  }

  /** Adds an operation to the hash only. */
  public void operation(String who, String what) {
    operations++;
    add(nanos.getAsLong(), who, what);
  }

  private void add(long atNanos, String who, String what) {
    hash = (hash ^ atNanos) * FNV_PRIME;
    hash = (hash ^ who.hashCode()) * FNV_PRIME;
    hash = (hash ^ what.hashCode()) * FNV_PRIME;
  }

  /** Returns the hash of everything so far. */
  public long hash() {
    return hash;
  }

  /** Returns the number of operations so far. */
  public long operations() {
    return operations;
  }

  /** Returns the kept notes, oldest first. */
  public List<Note> notes() {
    return new ArrayList<>(notes);
  }
}
