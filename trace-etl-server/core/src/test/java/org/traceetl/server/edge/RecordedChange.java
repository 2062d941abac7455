package org.traceetl.server.edge;

import java.util.ArrayList;
import java.util.List;

/** Keeps a change, as a journal does. */
final class RecordedChange implements TableChange {
  record Opened(
      int number,
      long key,
      int check,
      int side,
      int head,
      long durationNanos,
      long pane,
      long messageMicros,
      long arrivalMillis,
      boolean paired) {
    void applyTo(TableChange change) {
      Half half = new Half();
      half.set(key, check, side, head, durationNanos, pane, messageMicros);
      half.arrive(arrivalMillis, paired);
      change.opened(number, half);
    }
  }

  final List<Integer> left = new ArrayList<>();
  final List<Integer> paired = new ArrayList<>();
  final List<Opened> opened = new ArrayList<>();
  long streamMillis;

  static RecordedChange ofWindow(HalfTable table) {
    RecordedChange change = new RecordedChange();
    table.endWindow(change);
    return change;
  }

  static RecordedChange ofOpen(HalfTable table) {
    RecordedChange change = new RecordedChange();
    table.visitOpen(change);
    return change;
  }

  @Override
  public void advanced(long millis) {
    streamMillis = millis;
  }

  @Override
  public void left(int number) {
    left.add(number);
  }

  @Override
  public void paired(int number) {
    paired.add(number);
  }

  @Override
  public void opened(int number, Half half) {
    opened.add(
        new Opened(
            number,
            half.key(),
            half.check(),
            half.side(),
            half.head(),
            half.durationNanos(),
            half.pane(),
            half.messageMicros(),
            half.arrivalMillis(),
            half.isPaired()));
  }

  /** Returns all parts, for comparisons. */
  List<Object> parts() {
    return List.of(streamMillis, left, paired, opened);
  }

  void applyTo(TableChange change) {
    change.advanced(streamMillis);
    left.forEach(change::left);
    paired.forEach(change::paired);
    opened.forEach(half -> half.applyTo(change));
  }
}
