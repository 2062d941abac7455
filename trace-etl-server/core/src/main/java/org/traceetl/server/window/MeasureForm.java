package org.traceetl.server.window;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What a series of a measure shows, as the series names it in its {@link SeriesDefinition#values}
 * in place of a {@link Form}. Immutable. Its text:
 *
 * <pre>
 *   metric=histogram;unit=s;help=Duration of requests.;unit=s;bounds=5,10
 * </pre>
 *
 * <p>The first unit is that of the metric, as in UCUM. What follows the help is the form of the
 * values: nanoseconds in seconds or milliseconds; for other values than durations, millionths as if
 * they were nanoseconds in milliseconds. A form without bounds is that of a counter.
 *
 * @param isHistogram whether the metric is a histogram of the values, not a counter of their sum
 * @param unit unit of the metric
 * @param help description of the metric
 * @param form bounds, and how values are shown; has no native buckets
 */
public record MeasureForm(boolean isHistogram, String unit, String help, Form form) {
  private static final long NANOS_OF_SECOND = 1_000_000_000;
  private static final long NANOS_OF_MILLI = 1_000_000;
  private static final Pattern TEXT =
      Pattern.compile(
          "metric=(histogram|counter);unit=([!-:<-~]{1,63});help=(.{1,256});(unit=(m?s)(?:;.*)?)",
          Pattern.DOTALL);

  /** Returns the form of a text that a series names; null if the text is not exactly one. */
  public static MeasureForm parse(String text) {
    Matcher parts = text.length() > Form.MAX_BYTES ? null : TEXT.matcher(text);
    if (parts == null || !parts.matches()) {
      return null;
    }
    boolean isHistogram = parts.group(1).equals("histogram");
    Form form = isHistogram ? Form.parse(parts.group(4)) : ofCounter(parts.group(5).equals("s"));
    if (form == null || form.nativeBuckets() != null) {
      return null;
    }
    MeasureForm parsed = new MeasureForm(isHistogram, parts.group(2), parts.group(3), form);
    return parsed.text().equals(text) ? parsed : null;
  }

  private static Form ofCounter(boolean seconds) {
    return new Form(new long[0], null, seconds ? NANOS_OF_SECOND : NANOS_OF_MILLI);
  }

  /** Returns the text of the form. */
  public String text() {
    return "metric="
        + (isHistogram ? "histogram" : "counter")
        + ";unit="
        + unit
        + ";help="
        + help
        + ";"
        + form.text();
  }
}
