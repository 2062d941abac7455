package org.traceetl.server.window;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.traceetl.proto.Rejection;

/** The books of an open window: a row of counts for each application with spans in it. */
final class Ledger {
  static final int RECEIVED = 0;
  static final int RECORDED = 1;
  static final int OVERFLOWED = 2;
  static final int FILTERED = 3;
  static final int DUPLICATE = 4;
  static final int HELD_BACK = 5;
  static final int BYTES = 6;
  private static final int REJECTED = 7;
  private static final Rejection[] REASONS = Rejection.values();
  private static final int COLUMNS = REJECTED + REASONS.length;

  /** By application number: row + 1; 0 without a row. */
  private int[] rowOf = new int[16];

  private String[] names = new String[16];
  private int[] applications = new int[16];
  private long[] counts = new long[16 * COLUMNS];
  private int rows;

  /** Opens the application's row unless it is open. */
  void open(int application, String name) {
    if (application >= rowOf.length) {
      rowOf = Arrays.copyOf(rowOf, Math.max(application + 1, rowOf.length * 2));
    }
    if (rowOf[application] != 0) {
      return;
    }
    if (rows == names.length) {
      names = Arrays.copyOf(names, rows * 2);
      applications = Arrays.copyOf(applications, rows * 2);
      counts = Arrays.copyOf(counts, rows * 2 * COLUMNS);
    }
    names[rows] = name;
    applications[rows] = application;
    rows++;
    rowOf[application] = rows;
  }

  void add(int application, int column, long spans) {
    counts[(rowOf[application] - 1) * COLUMNS + column] += spans;
  }

  void addRejected(int application, Rejection reason, long spans) {
    add(application, REJECTED + reason.ordinal(), spans);
  }

  boolean isEmpty() {
    return rows == 0;
  }

  List<Books> books() {
    List<Books> books = new ArrayList<>(rows);
    for (int row = 0; row < rows; row++) {
      int at = row * COLUMNS;
      Map<String, Long> rejected = new TreeMap<>();
      for (Rejection reason : REASONS) {
        long spans = counts[at + REJECTED + reason.ordinal()];
        if (spans != 0) {
          rejected.put(reason.label(), spans);
        }
      }
      books.add(
          new Books(
              names[row],
              counts[at + RECEIVED],
              counts[at + RECORDED],
              counts[at + OVERFLOWED],
              counts[at + FILTERED],
              counts[at + DUPLICATE],
              Map.copyOf(rejected),
              counts[at + HELD_BACK],
              counts[at + BYTES]));
    }
    return List.copyOf(books);
  }

  void clear() {
    for (int row = 0; row < rows; row++) {
      rowOf[applications[row]] = 0;
      names[row] = null;
    }
    Arrays.fill(counts, 0, rows * COLUMNS, 0);
    rows = 0;
  }
}
