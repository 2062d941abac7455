package org.traceetl.agent.source.ring;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.traceetl.agent.flow.Checkpoint;
import org.traceetl.agent.flow.Intake;
import org.traceetl.agent.source.payload.DeletedPosition;

/** The spool's notes of rings: positions of earlier runs, and notes to delete. */
final class RingPositions {
  private final Map<String, RingPosition> unread = new HashMap<>();
  private final Deque<String> toForget = new ArrayDeque<>();

  /**
   * @param notes of earlier runs, of rings and of other sources
   * @throws IOException if a note cannot be read
   */
  RingPositions(Collection<Checkpoint.Position> notes) throws IOException {
    for (Checkpoint.Position note : notes) {
      if (RingPosition.isOne(note)) {
        RingPosition position = RingPosition.of(note);
        unread.put(position.file(), position);
      }
    }
  }

  /** Returns an earlier run's position in a ring that is not open yet; null for none. */
  RingPosition of(String name) {
    return unread.get(name);
  }

  /** Forgets the loaded position of an open ring; the ring's payloads store it from now on. */
  void goesOn(String name) {
    unread.remove(name);
  }

  /** Schedules the deletion of a ring's note. */
  void forget(String name) {
    toForget.add(name);
  }

  /** Schedules the deletion of notes of rings that were not opened and no longer exist. */
  void forgetAllBut(Set<String> names) {
    for (String name : List.copyOf(unread.keySet())) {
      if (!names.contains(name)) {
        unread.remove(name);
        forget(name);
      }
    }
  }

  /** Offers the scheduled deletions until the pipeline has no room. */
  void tell(Intake intake) {
    while (!toForget.isEmpty()
        && DeletedPosition.offer(
            intake, RingSource.NAME, RingPosition.noteName(toForget.peek()), () -> {})) {
      toForget.remove();
    }
  }
}
