package org.traceetl.perf.bench.gate;

import java.io.IOException;
import java.math.BigDecimal;
import java.math.MathContext;
import java.math.RoundingMode;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The largest amounts that the gate allows, by figure. In the file each figure has a line of
 * comma-separated values: figure, unit, bytes, instructions. The instructions are empty until they
 * are measured. Lines that begin with {@code #} are comments. Immutable.
 */
final class Baseline {
  /** The command that writes the file, for messages. */
  static final String WRITE = "bin/bench gate --write";

  /** Room above the measured bytes: an object of a span is more, differences of runs are less. */
  private static final double BYTES_ROOM = 1.1;

  /** Room above the baseline's instructions; the compiler's decisions differ between runs. */
  private static final double INSTRUCTIONS_ROOM = 1.1;

  private static final MathContext FOUR_DIGITS = new MathContext(4, RoundingMode.CEILING);
  private static final String HEAD = "figure,unit,bytes,instructions";
  private static final List<String> COMMENT =
      List.of(
          "# Allocated bytes that bin/bench gate allows, 10 % above those measured, and",
          "# instructions in user mode, of which it allows 10 % more. Written by: " + WRITE);

  private final Path file;
  private final Map<String, Amounts> amounts;

  private Baseline(Path file, Map<String, Amounts> amounts) {
    this.file = file;
    this.amounts = amounts;
  }

  /**
   * Reads the file.
   *
   * @return without figures if it does not exist
   * @throws InvalidBaselineException if a line is not valid
   */
  static Baseline read(Path file) throws IOException {
    try {
      return parse(file, Files.readAllLines(file));
    } catch (NoSuchFileException e) {
      return new Baseline(file, Map.of());
    }
  }

  static Baseline parse(Path file, List<String> lines) throws InvalidBaselineException {
    Map<String, Amounts> amounts = new LinkedHashMap<>();
    for (int i = 0; i < lines.size(); i++) {
      String line = lines.get(i).strip();
      if (!line.isEmpty() && !line.startsWith("#") && !line.equals(HEAD)) {
        parse(file + ":" + (i + 1) + ": ", line, amounts);
      }
    }
    return new Baseline(file, amounts);
  }

  private static void parse(String place, String line, Map<String, Amounts> amounts)
      throws InvalidBaselineException {
    String[] cells = line.split(",", -1);
    if (cells.length != HEAD.split(",").length) {
      throw new InvalidBaselineException(place + line + ": must be " + HEAD);
    }
    Figure figure =
        figure(cells[0])
            .orElseThrow(() ->
                new InvalidBaselineException(
                    place
                        + "figure = "
                        + cells[0]
                        + ": must be one of "
                        + String.join(", ", Figure.ALL.stream().map(Figure::name).toList())));
    if (!cells[1].equals(figure.unit())) {
      throw new InvalidBaselineException(
          place + "unit = " + cells[1] + ": must be " + figure.unit());
    }
    Amounts read =
        new Amounts(
            amount(place + "bytes = ", cells[2]),
            cells[3].isEmpty()
                ? Optional.empty()
                : Optional.of(amount(place + "instructions = ", cells[3])));
    if (amounts.put(figure.name(), read) != null) {
      throw new InvalidBaselineException(place + figure.name() + " has two lines");
    }
  }

  private static Optional<Figure> figure(String name) {
    return Figure.ALL.stream().filter(figure -> figure.name().equals(name)).findFirst();
  }

  private static double amount(String what, String text) throws InvalidBaselineException {
    if (!text.matches("\\d+(\\.\\d+)?")) {
      throw new InvalidBaselineException(what + text + ": must be a number of at least 0");
    }
    return Double.parseDouble(text);
  }

  /** Returns the amounts of a figure, if it has a line. */
  Optional<Amounts> of(Figure figure) {
    return Optional.ofNullable(amounts.get(figure.name()));
  }

  /**
   * Compares a figure.
   *
   * @return the problems, each with what to do; empty if there are none
   */
  List<String> problems(Figure figure, Amounts measured) {
    Amounts allowed = amounts.get(figure.name());
    if (allowed == null) {
      return List.of(
          "%s has no line for %s; write it with %s".formatted(file, figure.name(), WRITE));
    }
    List<String> problems = new ArrayList<>();
    if (measured.bytes() > allowed.bytes()) {
      problems.add(
          problem(
              figure,
              "allocates %s bytes",
              measured.bytes(),
              "%s allows %s".formatted(file, shown(allowed.bytes()))));
    }
    if (measured.instructions().isPresent() && allowed.instructions().isPresent()) {
      double baseline = allowed.instructions().get();
      double instructions = measured.instructions().get();
      if (instructions > baseline * INSTRUCTIONS_ROOM) {
        problems.add(
            problem(
                figure,
                "takes %s instructions",
                instructions,
                "%s has %s, and 10 %% more are allowed".formatted(file, shown(baseline))));
      }
    }
    return problems;
  }

  private static String problem(Figure figure, String does, double amount, String allowed) {
    return "%s %s a %s; %s. Reduce them, or accept them with %s"
        .formatted(figure.name(), does.formatted(shown(amount)), figure.unit(), allowed, WRITE);
  }

  /**
   * Returns the baseline that the measured amounts would just pass. A figure keeps its instructions
   * if they were not measured.
   */
  Baseline with(Map<Figure, Amounts> measured) {
    Map<String, Amounts> now = new LinkedHashMap<>();
    measured.forEach((figure, amount) -> {
      Optional<Double> instructions =
          amount.instructions().or(() -> of(figure).flatMap(Amounts::instructions));
      now.put(figure.name(), new Amounts(amount.bytes() * BYTES_ROOM, instructions));
    });
    return new Baseline(file, now);
  }

  /** Writes the file. */
  void write() throws IOException {
    List<String> lines = new ArrayList<>(COMMENT);
    lines.add(HEAD);
    for (Figure figure : Figure.ALL) {
      of(figure)
          .ifPresent(amount ->
              lines.add(
                  String.join(
                      ",",
                      figure.name(),
                      figure.unit(),
                      shown(amount.bytes()),
                      amount.instructions().map(Baseline::shown).orElse(""))));
    }
    Files.write(file, lines);
  }

  /** Returns an amount with four digits, rounded up, so that the amount itself is allowed. */
  private static String shown(double amount) {
    return new BigDecimal(amount).round(FOUR_DIGITS).toPlainString();
  }
}
