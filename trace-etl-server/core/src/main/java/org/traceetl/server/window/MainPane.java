package org.traceetl.server.window;

import java.util.Arrays;

/**
 * Computes the main pane of a window: the window's rows less those of all other panes. A number of
 * an inconsistent window may be below 0. For one window.
 */
final class MainPane {
  private final SealedWindow window;
  private final int stride;

  // By row of the window.
  private final long[] counts;
  private final long[] durationNanos;

  /** In the order of the window's native buckets. */
  private final long[] spans;

  private MainPane(SealedWindow window) {
    this.window = window;
    stride = window.stride();
    counts = window.counts().clone();
    durationNanos = window.durationNanos().clone();
    spans = window.natives().counts().clone();
  }

  static WindowPanes.Pane of(SealedWindow window) {
    WindowPanes panes = window.panes();
    if (panes.others().isEmpty()) {
      int[] rows = new int[window.rows()];
      Arrays.setAll(rows, row -> row);
      return new WindowPanes.Pane(
          panes.mainMillis(), rows, window.counts(), window.durationNanos(), window.natives());
    }
    MainPane main = new MainPane(window);
    panes.others().forEach(main::subtract);
    return main.pane();
  }

  private void subtract(WindowPanes.Pane pane) {
    for (int i = 0; i < pane.rows().length; i++) {
      int row = pane.rows()[i];
      for (int bucket = 0; bucket < stride; bucket++) {
        int at = row * stride + bucket;
        counts[at] = less(counts[at], pane.counts()[i * stride + bucket]);
      }
      durationNanos[row] = less(durationNanos[row], pane.durationNanos()[i]);
      subtractNative(pane.natives(), i, row);
    }
  }

  /** Both rows ascend. A bucket that the window lacks remains in none. */
  private void subtractNative(NativeCounts natives, int ofPane, int row) {
    NativeCounts all = window.natives();
    int at = all.begin(row);
    for (int i = natives.begin(ofPane); i < natives.end(ofPane); i++) {
      while (at < all.end(row) && all.buckets()[at] < natives.buckets()[i]) {
        at++;
      }
      if (at < all.end(row) && all.buckets()[at] == natives.buckets()[i]) {
        spans[at] = less(spans[at], natives.counts()[i]);
      }
    }
  }

  /** A number below 0 remains, so that no sum overflows and hides it. */
  private static long less(long number, long part) {
    return number < 0 ? number : number - part;
  }

  private WindowPanes.Pane pane() {
    int[] rows = new int[window.rows()];
    int size = 0;
    for (int row = 0; row < rows.length; row++) {
      if (window.durationNanos()[row] == Long.MAX_VALUE) {
        // A sum that reached the highest number may be less than its parts.
        durationNanos[row] = Math.max(0, durationNanos[row]);
      }
      if (has(row)) {
        System.arraycopy(counts, row * stride, counts, size * stride, stride);
        durationNanos[size] = durationNanos[row];
        rows[size++] = row;
      }
    }
    return new WindowPanes.Pane(
        window.panes().mainMillis(),
        Arrays.copyOf(rows, size),
        Arrays.copyOf(counts, size * stride),
        Arrays.copyOf(durationNanos, size),
        natives(rows, size));
  }

  private boolean has(int row) {
    long numbers = durationNanos[row];
    for (int at = row * stride; at < (row + 1) * stride; at++) {
      numbers |= counts[at];
    }
    for (int at = window.natives().begin(row); at < window.natives().end(row); at++) {
      numbers |= spans[at];
    }
    return numbers != 0;
  }

  private NativeCounts natives(int[] rows, int size) {
    NativeCounts all = window.natives();
    NativeCounts.Builder rest = new NativeCounts.Builder(size);
    for (int i = 0; i < size; i++) {
      for (int at = all.begin(rows[i]); at < all.end(rows[i]); at++) {
        if (spans[at] != 0) {
          rest.add(all.buckets()[at], spans[at]);
        }
      }
      rest.endRow();
    }
    NativeCounts built = rest.build();
    return built.isEmpty() ? NativeCounts.NONE : built;
  }
}
