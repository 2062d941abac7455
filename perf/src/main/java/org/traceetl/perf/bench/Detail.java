package org.traceetl.perf.bench;

import java.util.Locale;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** What agents send of a span. */
enum Detail {
  /** All. */
  FULL,
  /** What a server demands; other attributes only of slow and failed spans and of exemplars. */
  DEMAND;

  /** Returns the agent's configuration, in YAML. */
  String settings() {
    return "detail: {default: " + this + "}\n";
  }

  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT);
  }

  /** Reads the value of an option. */
  static final class Converter implements ITypeConverter<Detail> {
    @Override
    public Detail convert(String value) {
      for (Detail detail : values()) {
        if (detail.toString().equals(value)) {
          return detail;
        }
      }
      throw new TypeConversionException("'" + value + "' must be full or demand");
    }
  }
}
