package org.traceetl.perf.bench;

import org.traceetl.perf.bench.load.SpanStream;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Option;
import picocli.CommandLine.TypeConversionException;

/** How many of the spans failed; an argument. */
final class FailedShare {
  @Option(
      names = "--failed",
      paramLabel = "PERCENT",
      converter = Percent.class,
      description = "Failed spans of a hundred, 0 to 100 (default: ${DEFAULT-VALUE}).")
  private int percent = SpanStream.FAILED_PERCENT;

  int percent() {
    return percent;
  }

  private static final class Percent implements ITypeConverter<Integer> {
    @Override
    public Integer convert(String value) {
      if (!value.matches("100|[0-9]{1,2}")) {
        throw new TypeConversionException("'" + value + "' must be a number from 0 to 100");
      }
      return Integer.valueOf(value);
    }
  }
}
