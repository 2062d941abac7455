package org.traceetl.server.compare;

import java.util.Locale;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** Texts of both reports. Labels come from others, so what could steer a terminal is replaced. */
final class SeriesText {
  private static final int MAX_CHARS = 300;
  private static final double MAX_WHOLE = 1L << 53;
  private static final Pattern UNPRINTABLE = Pattern.compile("[\\p{C}\\p{Zl}\\p{Zp}]");

  private SeriesText() {}

  static String labels(Map<String, String> labels) {
    return printable(
        labels.entrySet().stream()
            .map(label -> label.getKey() + "=\"" + label.getValue() + "\"")
            .collect(Collectors.joining(", ", "{", "}")));
  }

  static String printable(String text) {
    String line = UNPRINTABLE.matcher(text).replaceAll("?");
    return line.length() <= MAX_CHARS ? line : line.substring(0, MAX_CHARS) + "…";
  }

  /** Returns a count, which is whole unless spans were sampled. */
  static String count(double value) {
    boolean isWhole = Math.rint(value) == value && Math.abs(value) <= MAX_WHOLE;
    return String.format(Locale.ROOT, isWhole ? "%,.0f" : "%,.3f", value);
  }

  /** Returns a difference with its sign. */
  static String signed(double value) {
    return (value > 0 ? "+" : "") + count(value);
  }

  /** Returns the end of the pane in which most was lost. */
  static String when(Pair pair, Panes panes) {
    int pane = pair.when();
    return pane < 0 ? "" : panes.endOf(pane).toString();
  }

  static String reason(Pair pair) {
    return pair.reason() + (pair.detail().isEmpty() ? "" : " (" + printable(pair.detail()) + ")");
  }
}
