package org.traceetl.server.window;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.math.BigDecimal;
import java.util.Arrays;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * The buckets of a series and the unit in which its durations are shown. Immutable.
 *
 * <p>A series that has other ones than the configuration names them in its {@link
 * SeriesDefinition#values}: as the value of the label {@link #KEY}, which no dimension can have and
 * no page shows. The value is {@link #text}:
 *
 * <pre>
 *   unit=s;bounds=2,4.5,1000;native=3
 * </pre>
 *
 * <p>The unit is {@code s} or {@code ms}. Bounds of classic buckets are in milliseconds. {@code
 * native} is the schema of native buckets. A form has bounds, a schema, or both.
 */
public final class Form {
  /** The label of a form among the labels of a series; sorts before all others. */
  public static final String KEY = "";

  /** Most bounds of a form that a series names. */
  public static final int MAX_BOUNDS = 100;

  /** Most bytes of a form that a series names. */
  public static final int MAX_BYTES = 2_048;

  private static final long NANOS_OF_SECOND = 1_000_000_000;
  private static final long NANOS_OF_MILLI = 1_000_000;
  private static final int MILLI_DIGITS = 6;
  private static final int MIN_SCHEMA = -4;
  private static final int MAX_SCHEMA = 8;
  private static final String BOUND = "\\d{1,11}(?:\\.\\d{1,6})?";
  private static final Pattern TEXT =
      Pattern.compile(
          "unit=(m?s)(?:;bounds=(" + BOUND + "(?:," + BOUND + ")*+))?(?:;native=(-?\\d))?");

  private final long[] boundsNanos;

  /** Null without native buckets. */
  private final Integer schema;

  private final long unitNanos;
  private final String text;
  private final byte[] utf8;

  /**
   * @param boundsNanos upper bounds of the finite classic buckets, ascending, above 0
   * @param schema of native buckets; null for none
   * @param unitNanos nanoseconds of the unit: a second or a millisecond
   */
  public Form(long[] boundsNanos, Integer schema, long unitNanos) {
    this.boundsNanos = boundsNanos.clone();
    this.schema = schema;
    this.unitNanos = unitNanos;
    text =
        "unit="
            + (seconds() ? "s" : "ms")
            + (boundsNanos.length == 0
                ? ""
                : Arrays.stream(boundsNanos)
                    .mapToObj(Form::millis)
                    .collect(Collectors.joining(",", ";bounds=", "")))
            + (schema == null ? "" : ";native=" + schema);
    utf8 = text.getBytes(UTF_8);
  }

  private static String millis(long nanos) {
    BigDecimal millis = BigDecimal.valueOf(nanos, MILLI_DIGITS).stripTrailingZeros();
    return millis.setScale(Math.max(0, millis.scale())).toPlainString();
  }

  /** Returns the form of a text that a series names; null if the text is not exactly a form's. */
  public static Form parse(String text) {
    Matcher parts = text.length() > MAX_BYTES ? null : TEXT.matcher(text);
    if (parts == null || !parts.matches()) {
      return null;
    }
    String[] millis = parts.group(2) == null ? new String[0] : parts.group(2).split(",", -1);
    long[] bounds =
        Arrays.stream(millis)
            .mapToLong(each -> new BigDecimal(each).movePointRight(MILLI_DIGITS).longValueExact())
            .toArray();
    Integer schema = parts.group(3) == null ? null : Integer.valueOf(parts.group(3));
    Form form =
        new Form(bounds, schema, parts.group(1).equals("s") ? NANOS_OF_SECOND : NANOS_OF_MILLI);
    return form.isNameable() && form.text.equals(text) ? form : null;
  }

  /**
   * Returns the value of the label by which series of the form with this text differ from those of
   * other forms, which may be on a page at the same time.
   */
  public static String label(String text) {
    return String.format(Locale.ROOT, "%08x", text.hashCode());
  }

  /** Returns whether a series may name the form. */
  public boolean isNameable() {
    long previous = 0;
    for (long bound : boundsNanos) {
      if (bound <= previous) {
        return false;
      }
      previous = bound;
    }
    return boundsNanos.length <= MAX_BOUNDS
        && text.length() <= MAX_BYTES
        && (schema == null ? boundsNanos.length > 0 : schema >= MIN_SCHEMA && schema <= MAX_SCHEMA);
  }

  /** Returns the text of the form in UTF-8. Read-only. */
  public byte[] utf8() {
    return utf8;
  }

  /** Returns the text of the form. */
  public String text() {
    return text;
  }

  /** Returns the upper bounds of the finite classic buckets. */
  public long[] boundsNanos() {
    return boundsNanos.clone();
  }

  /** Returns the number of classic buckets, including the one above the last bound. */
  public int buckets() {
    return boundsNanos.length + 1;
  }

  /** Returns whether pages in formats with native histograms contain classic buckets. */
  public boolean isClassic() {
    return schema == null || boundsNanos.length > 0;
  }

  /** Returns the native buckets; null for none. */
  public NativeBuckets nativeBuckets() {
    return schema == null ? null : NativeBuckets.of(schema, unitNanos);
  }

  /** Returns true for durations in seconds, false for milliseconds. */
  public boolean seconds() {
    return unitNanos == NANOS_OF_SECOND;
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof Form form && text.equals(form.text);
  }

  @Override
  public int hashCode() {
    return text.hashCode();
  }

  @Override
  public String toString() {
    return text;
  }
}
