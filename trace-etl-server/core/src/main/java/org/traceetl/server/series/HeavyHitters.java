package org.traceetl.server.series;

import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import org.traceetl.server.window.WindowMetrics;
import org.traceetl.server.window.WindowRows;

/**
 * Gives series to keys with many spans if their application is at a limit, even if other keys came
 * first.
 *
 * <p>Keys without room are counted in a sketch of their application, by a hash of their text, so
 * they need no symbols. At the end of a window, the heaviest keys are compared with the least used
 * series of their application; if the process has no room, with those of the queue. A key is
 * invited if it certainly had {@value #MIN_SPANS} spans and more than {@value #TIMES} times as many
 * as the series in that window. Then the series is retired ({@link SeriesTable#retire}). Its place
 * is reserved for one window, until a span with that key creates its series. If there is room, no
 * series is retired. An application above its limit retires series down to the limit, and then
 * invites. Windows that end early count with the window after them.
 *
 * <p>None of this is in the journal, except the series. A new owner starts with empty sketches.
 *
 * <p>Limits: {@value #MAX_APPLICATIONS} applications at a time; per window one percent of an
 * application's or queue's series, at most {@value #MAX_SEATS}, and {@value #MAX_LOOKED_AT}
 * examined series, in rotation. One owner thread.
 */
public final class HeavyHitters {
  static final int MIN_SPANS = 10;
  private static final int TIMES = 2;
  private static final int MAX_APPLICATIONS = 64;
  private static final int MAX_SEATS = 64;
  private static final int LOOK_BITS = 12;
  private static final int MAX_LOOKED_AT = 1 << LOOK_BITS;

  /** A series with spans in the window ranks above all without, which rank by age. */
  private static final long USED = 1L << 40;

  /** Maximum use that is distinguished. */
  private static final long MOST_USE = Long.MAX_VALUE >>> LOOK_BITS;

  /** Candidates for invitation, and series that may be retired for them. */
  private static final class Contest {
    /** Maximum number of invitations in this window. */
    private int seats;

    // The keys with most spans, in descending order
    private final int[] applications;
    private final long[] hashes;
    private final long[] spans;
    private int contenders;

    /**
     * The least used series: {@link #holder}. While they are collected, a heap with the most used
     * on top, which bounds the cost in any order; then in ascending order.
     */
    private final long[] holders;

    private int held;

    private Contest(int maxSeats) {
      applications = new int[maxSeats];
      hashes = new long[maxSeats];
      spans = new long[maxSeats];
      holders = new long[maxSeats];
    }

    private void begin(int most) {
      seats = most;
      contenders = 0;
      held = 0;
    }

    private void rank(int application, SpaceSaving sketch) {
      for (int counter = 0; counter < SpaceSaving.COUNTERS; counter++) {
        long least = sketch.least(counter);
        if (least < MIN_SPANS || contenders == seats && least <= spans[contenders - 1]) {
          continue;
        }
        int at = contenders < seats ? contenders++ : contenders - 1;
        for (; at > 0 && spans[at - 1] < least; at--) {
          applications[at] = applications[at - 1];
          hashes[at] = hashes[at - 1];
          spans[at] = spans[at - 1];
        }
        applications[at] = application;
        hashes[at] = sketch.hash(counter);
        spans[at] = least;
      }
    }

    private void rank(long holder) {
      if (held < seats) {
        int at = held++;
        for (; at > 0 && holders[(at - 1) / 2] < holder; at = (at - 1) / 2) {
          holders[at] = holders[(at - 1) / 2];
        }
        holders[at] = holder;
      } else if (holder < holders[0]) {
        replaceTop(holder);
      }
    }

    private void replaceTop(long holder) {
      int at = 0;
      for (int child = 1; child < held; child = 2 * at + 1) {
        if (child + 1 < held && holders[child + 1] > holders[child]) {
          child++;
        }
        if (holders[child] <= holder) {
          break;
        }
        holders[at] = holders[child];
        at = child;
      }
      holders[at] = holder;
    }

    private void sortHolders() {
      Arrays.sort(holders, 0, held);
    }
  }

  /** An application with spans without room. */
  private static final class Crowd {
    private final SpaceSaving sketch = new SpaceSaving();

    /** Compares with the application's own series. */
    private final Contest contest;

    private Crowd(int seats) {
      contest = new Contest(seats);
    }
  }

  private final int seats;

  /** By application: null for most. */
  private Crowd[] crowds = new Crowd[64];

  private final int[] crowded = new int[MAX_APPLICATIONS];
  private int size;
  private final Deque<Crowd> spares = new ArrayDeque<>();

  /** Compares with the queue's series, if an application has room but the process has none. */
  private final Contest shared = new Contest(MAX_SEATS);

  // The invited keys, unordered
  private int[] guestApplications = new int[MAX_SEATS];
  private long[] guests = new long[MAX_SEATS];
  private int invited;

  /** By application: number of reserved places. */
  private int[] kept = new int[64];

  /** The first series to examine. */
  private int first;

  /** By series: its spans in windows that ended early since the last other window. */
  private long[] spansBefore = new long[64];

  private boolean hasSpansBefore;

  /**
   * @param maxPerApplication maximum number of series of one application
   */
  public HeavyHitters(int maxPerApplication) {
    seats = Math.clamp(maxPerApplication / 100, 1, MAX_SEATS);
  }

  /**
   * Counts spans whose key has no room.
   *
   * @param hash of the key
   * @param spans number of spans
   */
  public void count(int application, long hash, long spans) {
    if (application >= crowds.length) {
      crowds = Arrays.copyOf(crowds, Math.max(application + 1, crowds.length * 2));
    }
    Crowd crowd = crowds[application];
    if (crowd == null) {
      if (size == MAX_APPLICATIONS) {
        return;
      }
      crowd = spares.isEmpty() ? new Crowd(seats) : spares.pop();
      crowds[application] = crowd;
      crowded[size++] = application;
    }
    crowd.sketch.add(hash, spans);
  }

  /** Returns the number of reserved places of an application. */
  public int kept(int application) {
    return application < kept.length ? kept[application] : 0;
  }

  /** Returns the number of all reserved places. */
  public int kept() {
    return invited;
  }

  /** Returns whether a place is reserved for this key. */
  public boolean isInvited(int application, long hash) {
    return find(application, hash) >= 0;
  }

  private int find(int application, long hash) {
    for (int i = 0; i < invited; i++) {
      if (guests[i] == hash && guestApplications[i] == application) {
        return i;
      }
    }
    return -1;
  }

  /** Releases the reservation of a key whose series was created. */
  public void took(int application, long hash) {
    int guest = find(application, hash);
    if (guest >= 0) {
      kept[application]--;
      invited--;
      guests[guest] = guests[invited];
      guestApplications[guest] = guestApplications[invited];
    }
  }

  /**
   * Ends a window before its time: its spans count with those of the next window. Reservations
   * remain.
   */
  public void endEarly(WindowMetrics window) {
    if (size == 0) {
      return;
    }
    hasSpansBefore = true;
    for (int i = 0; i < window.panes(); i++) {
      WindowRows rows = window.rows(i);
      for (int row = 0; row < rows.size(); row++) {
        int series = rows.series(row);
        if (series >= spansBefore.length) {
          spansBefore = Arrays.copyOf(spansBefore, Math.max(series + 1, spansBefore.length * 2));
        }
        spansBefore[series] += rows.spans(row);
      }
    }
  }

  /**
   * Ends a window: releases its unused reservations, and invites its heavy hitters.
   *
   * @param window the window that ends
   * @param mayInvite false if new series are impossible even after a retirement
   * @return number of series that were replaced
   */
  public int endWindow(SeriesTable table, WindowMetrics window, boolean mayInvite) {
    for (int i = 0; i < invited; i++) {
      kept[guestApplications[i]] = 0;
    }
    invited = 0;
    if (size == 0) {
      return 0;
    }
    int displaced = mayInvite ? contend(table, window) : 0;
    if (hasSpansBefore) {
      Arrays.fill(spansBefore, 0);
      hasSpansBefore = false;
    }
    for (int i = 0; i < size; i++) {
      Crowd crowd = crowds[crowded[i]];
      crowd.sketch.clear();
      spares.push(crowd);
      crowds[crowded[i]] = null;
    }
    size = 0;
    return displaced;
  }

  private int contend(SeriesTable table, WindowMetrics window) {
    shared.begin(Math.clamp(table.limited() / 100, 1, MAX_SEATS));
    for (int i = 0; i < size; i++) {
      int application = crowded[i];
      Crowd crowd = crowds[application];
      crowd.contest.begin(Math.min(seats, MAX_SEATS / size + 1));
      if (table.above(application) >= 0) {
        crowd.contest.rank(application, crowd.sketch);
      } else if (!table.hasBudget(0)) {
        shared.rank(application, crowd.sketch);
      }
    }
    rankHolders(table, window);
    int end = table.end();
    int displaced = settle(table, shared, end);
    for (int i = 0; i < size; i++) {
      displaced += settle(table, crowds[crowded[i]].contest, end);
    }
    first = series(Math.min(end, MAX_LOOKED_AT), end);
    return displaced;
  }

  private void rankHolders(SeriesTable table, WindowMetrics window) {
    int end = table.end();
    first = first < end ? first : 0;
    int looks = Math.min(end, MAX_LOOKED_AT);
    for (int look = 0; look < looks; look++) {
      int series = series(look, end);
      int application = table.application(series);
      if (application < 0 || table.isVariance(series)) {
        continue; // a variance is retired with its series
      }
      Crowd crowd = application < crowds.length ? crowds[application] : null;
      boolean ofItsOwn = crowd != null && crowd.contest.contenders > 0;
      if (!ofItsOwn && shared.contenders == 0) {
        continue;
      }
      long spans = spansOf(window, series);
      long use = spans < 0 ? table.touchedSeconds(series) : USED + spans;
      long holder = holder(use, look);
      if (shared.contenders > 0) {
        shared.rank(holder);
      }
      if (ofItsOwn) {
        crowd.contest.rank(holder);
      }
    }
  }

  /** Returns the spans of a series since the last contest; -1 for none. */
  private long spansOf(WindowMetrics window, int series) {
    long spans = window.spansOf(series);
    long before = hasSpansBefore && series < spansBefore.length ? spansBefore[series] : 0;
    return before == 0 ? spans : Math.max(spans, 0) + before;
  }

  /** Returns the series that is examined after the given number of other series. */
  private int series(int look, int end) {
    int series = first + look;
    return series < end ? series : series - end;
  }

  /** Returns a number that sorts by use, then by position. */
  private static long holder(long use, int look) {
    return Math.min(use, MOST_USE) << LOOK_BITS | look;
  }

  private int settle(SeriesTable table, Contest contest, int end) {
    contest.sortHolders();
    int displaced = 0;
    int guest = 0;
    for (int holder = 0; holder < contest.held && guest < contest.contenders; holder++) {
      int series = series((int) contest.holders[holder] & MAX_LOOKED_AT - 1, end);
      int of = table.application(series);
      if (of < 0) {
        continue; // retired in the shared contest
      }
      int application = contest.applications[guest];
      int above = table.above(application) + kept(application);
      if (of != application && above >= 0) {
        guest++; // another application's place is useless for it now
        holder--;
        continue;
      }
      long used = Math.max(0, (contest.holders[holder] >> LOOK_BITS) - USED);
      if (contest.spans[guest] <= TIMES * used
          || invited == MAX_SEATS
          || !table.canRetire()
          || above < 0 && table.hasBudget(invited)) {
        break;
      }
      table.retire(series);
      if (above <= 0) {
        invite(application, contest.hashes[guest]);
        guest++;
        displaced++;
      }
    }
    return displaced;
  }

  private void invite(int application, long hash) {
    if (application >= kept.length) {
      kept = Arrays.copyOf(kept, Math.max(application + 1, kept.length * 2));
    }
    kept[application]++;
    guestApplications[invited] = application;
    guests[invited] = hash;
    invited++;
  }
}
