package org.traceetl.perf.bench.report;

import java.io.IOException;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.ToDoubleFunction;
import java.util.stream.Collectors;
import picocli.CommandLine.Option;

/**
 * The results of one measurement. As an argument group of a command ({@code @Mixin}), it receives
 * the folder. The command calls {@link #columns}, {@link #row} after each step, which is printed at
 * once, and finally {@link #summary}. The summary writes {@code NAME.csv} and prints one line of
 * pairs.
 */
public final class Results {
  @Option(
      names = "--results",
      paramLabel = "DIRECTORY",
      description = "Where the table is written as CSV (default: ${DEFAULT-VALUE}).")
  private Path directory = Path.of("perf", "target", "bench");

  private final PrintStream out = System.out;
  private final List<List<String>> rows = new ArrayList<>();
  private List<String> columns = List.of();

  /** Creates results in the folder of the option. */
  public Results() {}

  /** Creates results in a folder, without an option. */
  public Results(Path directory) {
    this.directory = directory;
  }

  /**
   * Sets the columns of the rows that follow; units belong in the names.
   *
   * @param names separated by blanks
   */
  public void columns(String names) {
    columns = List.of(names.split(" "));
    out.println("# " + Machine.describe());
  }

  /** Adds a row and prints it as pairs. Fractions keep four significant digits. */
  public void row(Object... values) {
    if (values.length != columns.size()) {
      throw new IllegalArgumentException(
          values.length + " values for " + columns.size() + " columns");
    }
    List<String> row = Arrays.stream(values).map(Results::shown).toList();
    rows.add(row);
    List<String> pairs = new ArrayList<>();
    for (int i = 0; i < row.size(); i++) {
      pairs.add(columns.get(i) + "=" + row.get(i));
    }
    out.println(String.join(" ", pairs));
  }

  /** Adds a row, and prints it; columns without a value are empty. */
  public void row(Map<String, ?> values) {
    row(
        columns.stream()
            .map(column -> values.containsKey(column) ? values.get(column) : "")
            .toArray());
  }

  /** Returns a file in the table's directory, for pictures. */
  public Path file(String name) {
    return directory.resolve(name);
  }

  /**
   * Writes the table and prints the summary line.
   *
   * @param name of the measurement
   * @param pairs in their output order
   */
  public void summary(String name, Map<String, ?> pairs) {
    List<String> lines = new ArrayList<>();
    lines.add("# " + Machine.describe());
    lines.add(csv(columns));
    rows.forEach(row -> lines.add(csv(row)));
    try {
      Files.createDirectories(directory);
      Files.write(directory.resolve(name + ".csv"), lines);
    } catch (IOException e) {
      throw new UncheckedIOException("--results=" + directory + " cannot be written to", e);
    }
    out.println(
        pairs.entrySet().stream()
            .map(pair -> pair.getKey() + "=" + shown(pair.getValue()))
            .collect(Collectors.joining(" ")));
  }

  /** Returns the name of a round; rounds up to 0 warm up. */
  public static String round(int number) {
    return number > 0 ? Integer.toString(number) : "warm-up";
  }

  /** Sorts rounds by a figure, and returns the one with the lower median. */
  public static <T> T median(List<T> rounds, ToDoubleFunction<T> figure) {
    rounds.sort(Comparator.comparingDouble(figure));
    return rounds.get((rounds.size() - 1) / 2);
  }

  private static String csv(List<String> cells) {
    return cells.stream()
        .map(cell -> cell.matches("[^\",\n]*") ? cell : '"' + cell.replace("\"", "\"\"") + '"')
        .collect(Collectors.joining(","));
  }

  private static String shown(Object value) {
    if (!(value instanceof Double number) || number.isNaN() || number.isInfinite()) {
      return String.valueOf(value);
    }
    int decimals =
        number == 0 ? 0 : Math.clamp(3 - (int) Math.floor(Math.log10(Math.abs(number))), 0, 6);
    return String.format(Locale.ROOT, "%." + decimals + "f", number);
  }
}
