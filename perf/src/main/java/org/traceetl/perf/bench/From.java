package org.traceetl.perf.bench;

import java.util.Locale;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** What creates the spans of a comparison. */
enum From {
  /** This process, which repeats encoded requests; its cost does not count. */
  SENDER,
  /** A Java application with the OpenTelemetry SDK; what tracing adds to its cost counts. */
  APPLICATION;

  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT);
  }

  /** Reads the value of an option. */
  static final class Converter implements ITypeConverter<From> {
    @Override
    public From convert(String value) {
      for (From from : values()) {
        if (from.toString().equals(value)) {
          return from;
        }
      }
      throw new TypeConversionException("'" + value + "' must be sender or application");
    }
  }
}
