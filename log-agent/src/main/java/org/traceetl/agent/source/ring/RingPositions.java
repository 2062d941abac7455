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
import org.traceetl.agent.flow.Completion;
import org.traceetl.agent.flow.Intake;
import org.traceetl.agent.flow.Intake.Admission;

/** What the spool keeps of rings: where earlier runs stopped, and what is to be forgotten of it. */
final class RingPositions {
  private final Map<String, RingPosition> unread = new HashMap<>();
  private final Deque<String> toForget = new ArrayDeque<>();

  /**
   * @param notes of earlier runs, those of rings among others
   * @throws IOException when one cannot be read
   */
  RingPositions(Collection<Checkpoint.Position> notes) throws IOException {
    for (Checkpoint.Position note : notes) {
      if (RingPosition.isOne(note)) {
        RingPosition position = RingPosition.of(note);
        unread.put(position.file(), position);
      }
    }
  }

  /** Where earlier runs stopped in a ring that is not read yet; null for nowhere. */
  RingPosition of(String name) {
    return unread.get(name);
  }

  /** A ring is read from where it was stopped: from here on its payloads say where it is. */
  void goesOn(String name) {
    unread.remove(name);
  }

  /** Nothing is to be kept of a ring. */
  void forget(String name) {
    toForget.add(name);
  }

  /** Nothing is to be kept of rings that were not read yet and are not there any more. */
  void forgetAllBut(Set<String> names) {
    for (String name : List.copyOf(unread.keySet())) {
      if (!names.contains(name)) {
        unread.remove(name);
        forget(name);
      }
    }
  }

  /** Tells the spool what to forget, one ring after the other, as far as there is room for it. */
  void tell(Intake intake) {
    while (!toForget.isEmpty()) {
      Completion forgotten = new Forgotten(toForget.peek());
      if (intake.offer(RingSource.NAME, new byte[0], (payload, length, sink) -> {}, forgotten)
          != Admission.ACCEPTED) {
        return;
      }
      toForget.remove();
    }
  }

  /** A payload without spans, that what is kept of a ring ends with. */
  private record Forgotten(String name) implements Completion {
    @Override
    public Checkpoint checkpoint() {
      return RingPosition.forgotten(name);
    }

    @Override
    public void confirmed(int accepted, int rejected, String reason) {}

    @Override
    public void malformed(String reason) {}

    // The next start finds that there is no such ring.
    @Override
    public void failed(String reason) {}
  }
}
