package org.traceetl.server.journal;

import java.util.function.Supplier;
import org.traceetl.server.edge.InconsistentChangeException;
import org.traceetl.server.edge.OpenEdges;
import org.traceetl.server.window.EdgeChange;

/**
 * A queue's open half-edges at a position in its journal. They are unknown after a change that
 * contradicts them, after missing records, and after a snapshot without them. Then the changes of
 * the owner mean nothing, and the queue's next owner begins without half-edges, as do all readers
 * of its claim. For one thread at a time.
 */
final class ReplayedEdges {
  private final Supplier<OpenEdges> none;
  private OpenEdges open;
  private boolean known = true;
  private long contradictions;

  /**
   * @param none creates half-edges of which none is open
   */
  ReplayedEdges(Supplier<OpenEdges> none) {
    this.none = none;
    open = none.get();
  }

  /** Returns the open half-edges; none if they are unknown. */
  OpenEdges open() {
    return open;
  }

  boolean areKnown() {
    return known;
  }

  /** Returns the number of changes that contradicted the open half-edges. */
  long contradictions() {
    return contradictions;
  }

  void apply(EdgeChange change) {
    if (!known) {
      return;
    }
    try {
      open.apply(change);
    } catch (InconsistentChangeException e) {
      contradictions++;
      forget();
    }
  }

  void forget() {
    open = none.get();
    known = false;
  }

  /** Begins with an owner that has none if they are unknown. */
  void claimed() {
    known = true;
  }
}
