package org.traceetl.server.edge;

import java.util.ArrayList;
import java.util.List;

/** Records pairs and expired halves by their heads, and counts them by side. */
final class RecordedJoins implements Joins {
  private final List<String> events = new ArrayList<>();
  private final long[] paired = new long[Half.CONSUMER + 1];
  private final long[] expired = new long[Half.CONSUMER + 1];

  @Override
  public void paired(Half caller, Half callee) {
    paired(caller.head(), caller.isPaired(), callee.head());
    paired[callee.side()]++;
    if (!caller.isPaired()) {
      paired[caller.side()]++;
    }
  }

  void paired(int caller, boolean wasPaired, int callee) {
    events.add(caller + (wasPaired ? " again with " : " with ") + callee);
  }

  @Override
  public void expired(Half half) {
    expired(half.head(), half.isPaired());
    if (!half.isPaired()) {
      expired[half.side()]++;
    }
  }

  void expired(int head, boolean wasPaired) {
    events.add(head + (wasPaired ? " ends" : " expired"));
  }

  List<String> take() {
    List<String> taken = List.copyOf(events);
    events.clear();
    return taken;
  }

  long settled(int side) {
    return paired[side] + expired[side];
  }
}
