package org.traceetl.server.journal.format;

import java.util.Arrays;
import java.util.Collections;
import org.traceetl.server.window.SeriesDefinition;

/**
 * The format of consecutive series definitions:
 *
 * <pre>
 *   unsigned  zig-zag of (number - number of the one before - 1) &lt;&lt; 1 | overflow
 *   signed    created - created of the one before, milliseconds
 *   unsigned  values n, 4 to 255; 256 more if overflow and of one kind and status
 *   text      application
 *   if overflow and of one kind and status:
 *     octet     kind &lt;&lt; 2 | status
 *   if not overflow:
 *     text      span name
 *     octet     kind &lt;&lt; 2 | status
 *     text      the other values, n - 4 times
 * </pre>
 *
 * <p>The values are those of {@link SeriesDefinition#values}. Their number may differ between the
 * series of a queue.
 */
public final class DefinitionFormat {
  /** Minimum size of a definition. */
  static final int MIN_BYTES = 4;

  /** Exceeds any series number: more than a process may have, plus an overflow series for each. */
  public static final int MAX_SERIES = 1 << 24;

  private static final int MAX_VALUES = 255;

  /** Exceeds the number of values: kind and status of an overflow series follow. */
  private static final int OF_KIND = 256;

  /**
   * The variance of spans with OTLP's highest kind. A profile may have its own types instead of
   * OTLP's kinds, at most 15.
   */
  private static final int MAX_KIND = SeriesDefinition.OF_VARIANCE + 5;

  private static final int MAX_STATUS = 2;

  private int number = -1;
  private long createdMillis;

  /**
   * @param baseMillis time close to the creation of the first series
   */
  DefinitionFormat(long baseMillis) {
    createdMillis = baseMillis;
  }

  void write(SeriesDefinition definition, RecordWriter out) {
    long step = definition.series() - number - 1L;
    out.unsigned((step << 1 ^ step >> (Long.SIZE - 1)) << 1 | (definition.overflow() ? 1 : 0));
    out.signed(definition.createdMillis() - createdMillis);
    number = definition.series();
    createdMillis = definition.createdMillis();
    boolean ofKind = definition.values().get(SeriesDefinition.SPAN_KIND) != null;
    out.unsigned(definition.values().size() + (definition.overflow() && ofKind ? OF_KIND : 0));
    out.text(definition.values().get(SeriesDefinition.APPLICATION));
    if (definition.overflow()) {
      if (ofKind) {
        writeKindAndStatus(definition, out);
      }
      return;
    }
    out.text(definition.values().get(SeriesDefinition.SPAN_NAME));
    writeKindAndStatus(definition, out);
    for (int i = SeriesDefinition.FIXED_DIMENSIONS; i < definition.values().size(); i++) {
      out.text(definition.values().get(i));
    }
  }

  private static void writeKindAndStatus(SeriesDefinition definition, RecordWriter out) {
    int kind = Integer.parseInt(definition.values().get(SeriesDefinition.SPAN_KIND));
    int status = Integer.parseInt(definition.values().get(SeriesDefinition.STATUS_CODE));
    out.octet(kind << 2 | status);
  }

  SeriesDefinition read(RecordReader in) throws MalformedRecordException {
    long head = in.upTo(8L * MAX_SERIES, "step of series");
    long zigZag = head >>> 1;
    long next = number + 1L + (zigZag >>> 1 ^ -(zigZag & 1));
    if (next < 0 || next >= MAX_SERIES) {
      throw in.malformed("has series " + next + ": must be below " + MAX_SERIES);
    }
    number = (int) next;
    createdMillis += in.signed();
    boolean overflow = (head & 1) != 0;
    int told = (int) in.upTo(overflow ? MAX_VALUES + OF_KIND : MAX_VALUES, "values of a series");
    int size = told % OF_KIND;
    if (size < SeriesDefinition.FIXED_DIMENSIONS) {
      throw in.malformed(
          "has a series of " + size + " values: must be " + SeriesDefinition.FIXED_DIMENSIONS);
    }
    String[] values = new String[size];
    values[SeriesDefinition.APPLICATION] = in.text("application");
    if (overflow) {
      if (told >= OF_KIND) {
        readKindAndStatus(in, values);
      }
    } else {
      values[SeriesDefinition.SPAN_NAME] = in.text("span name");
      readKindAndStatus(in, values);
      for (int i = SeriesDefinition.FIXED_DIMENSIONS; i < size; i++) {
        values[i] = in.text();
      }
    }
    return new SeriesDefinition(
        number, createdMillis, overflow, Collections.unmodifiableList(Arrays.asList(values)));
  }

  private static void readKindAndStatus(RecordReader in, String[] values)
      throws MalformedRecordException {
    int kindAndStatus = in.octet();
    int kind = kindAndStatus >>> 2;
    int status = kindAndStatus & 3;
    if (kind > MAX_KIND || status > MAX_STATUS) {
      throw in.malformed("has kind " + kind + " and status " + status);
    }
    values[SeriesDefinition.SPAN_KIND] = Integer.toString(kind);
    values[SeriesDefinition.STATUS_CODE] = Integer.toString(status);
  }
}
