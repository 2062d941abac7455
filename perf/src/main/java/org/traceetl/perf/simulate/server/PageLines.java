package org.traceetl.perf.simulate.server;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.util.Arrays;

/**
 * The samples of a page in Prometheus' text format, as lines. Most lines of a page equal those of
 * the server's page before, so each is compared with that first: only new series become strings.
 */
final class PageLines {
  /** Numbers the series of all servers. */
  interface Numbers {
    /** Returns the number of a series, given as a page shows it. */
    int of(String series);
  }

  private static final byte[] NONE = {};

  private byte[] bytes = NONE;
  private int count;

  /** By line: where it begins, where its series ends, and where it ends. */
  private int[] begins = new int[64];

  private int[] names = new int[64];
  private int[] ends = new int[64];
  private int[] series = new int[64];
  private double[] values = new double[64];

  /** Reads a page. */
  static PageLines read(byte[] page, PageLines before, Numbers numbers) {
    PageLines lines = new PageLines();
    lines.bytes = page;
    int begin = 0;
    while (begin < page.length) {
      int end = begin;
      while (end < page.length && page[end] != '\n') {
        end++;
      }
      if (end > begin && page[begin] != '#') {
        lines.add(begin, end, before, numbers);
      }
      begin = end + 1;
    }
    return lines;
  }

  static PageLines none() {
    return new PageLines();
  }

  int count() {
    return count;
  }

  int series(int line) {
    return series[line];
  }

  double value(int line) {
    return values[line];
  }

  private void add(int begin, int end, PageLines before, Numbers numbers) {
    if (count == begins.length) {
      int more = 2 * count;
      begins = Arrays.copyOf(begins, more);
      names = Arrays.copyOf(names, more);
      ends = Arrays.copyOf(ends, more);
      series = Arrays.copyOf(series, more);
      values = Arrays.copyOf(values, more);
    }
    begins[count] = begin;
    ends[count] = end;
    int at = count < before.count ? count : -1;
    if (at >= 0 && before.equals(at, before.ends[at], bytes, begin, end)) {
      names[count] = begin + before.names[at] - before.begins[at];
      series[count] = before.series[at];
      values[count] = before.values[at];
    } else {
      int name = end;
      while (bytes[--name] != ' ') {
        // The value has no space, and nothing follows it.
      }
      names[count] = name;
      series[count] =
          at >= 0 && before.equals(at, before.names[at], bytes, begin, name)
              ? before.series[at]
              : numbers.of(new String(bytes, begin, name - begin, ISO_8859_1));
      values[count] = number(name + 1, end);
    }
    count++;
  }

  private boolean equals(int line, int to, byte[] other, int begin, int end) {
    return Arrays.equals(bytes, begins[line], to, other, begin, end);
  }

  /** Most values are whole numbers. */
  private double number(int from, int to) {
    long number = 0;
    for (int i = from; i < to; i++) {
      int digit = bytes[i] - '0';
      if (digit < 0 || digit > 9 || to - from > 15) {
        return Double.parseDouble(
            new String(bytes, from, to - from, ISO_8859_1).replace("Inf", "Infinity"));
      }
      number = 10 * number + digit;
    }
    return number;
  }
}
