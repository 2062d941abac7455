package org.traceetl.perf.simulate.mutation;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A change of a class's source, read from {@code mutations.txt}, which explains the format.
 *
 * @param breaks what is wrong then
 * @param shownBy the faults or the order of steps that show it
 * @param outside why the simulation cannot show it; empty if it can
 */
record Mutation(
    int number,
    String name,
    String breaks,
    String shownBy,
    String outside,
    String className,
    List<Change> changes) {
  private static final String FILE = "mutations.txt";
  private static final Pattern TITLE = Pattern.compile("(\\d+) (.+)");

  /** Lines of a source, and those that take their place. */
  record Change(List<String> removed, List<String> added) {}

  /** Reads all mutations, in the order of their numbers. */
  static List<Mutation> all() {
    try (var reader =
        new BufferedReader(
            new InputStreamReader(
                Mutation.class.getResourceAsStream(FILE), StandardCharsets.UTF_8))) {
      return parse(reader.lines().toList());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  static List<Mutation> parse(List<String> lines) {
    List<Mutation> all = new ArrayList<>();
    Draft draft = null;
    for (String line : lines) {
      Matcher title = TITLE.matcher(line);
      if (title.matches()) {
        add(draft, all);
        draft = new Draft(Integer.parseInt(title.group(1)), title.group(2));
      } else if (!line.isBlank() && !line.startsWith("#") && !line.startsWith("==")) {
        if (draft == null) {
          throw new IllegalArgumentException(FILE + ": no title before: " + line);
        }
        draft.take(line);
      }
    }
    add(draft, all);
    return all;
  }

  private static void add(Draft draft, List<Mutation> to) {
    if (draft == null) {
      return;
    }
    if (draft.number != to.size() + 1) {
      throw new IllegalArgumentException(FILE + ": mutation " + draft.number + " is out of order");
    }
    to.add(draft.mutation());
  }

  /**
   * Returns the source with the changes.
   *
   * @throws IllegalStateException unless each change's removed lines occur exactly once
   */
  String applyTo(String source) {
    List<String> lines = new ArrayList<>(source.lines().toList());
    for (Change change : changes) {
      int at = find(change.removed(), lines);
      lines.subList(at, at + change.removed().size()).clear();
      lines.addAll(at, change.added());
    }
    return String.join("\n", lines) + "\n";
  }

  private int find(List<String> wanted, List<String> lines) {
    List<Integer> found = new ArrayList<>();
    for (int at = 0; at + wanted.size() <= lines.size(); at++) {
      if (lines.subList(at, at + wanted.size()).stream()
          .map(String::strip)
          .toList()
          .equals(wanted)) {
        found.add(at);
      }
    }
    if (found.size() != 1) {
      throw new IllegalStateException(
          "mutation %d: the lines %s occur %d times in %s: must be once"
              .formatted(number, wanted, found.size(), className));
    }
    return found.getFirst();
  }

  /** A mutation of which not all lines are read. */
  private static final class Draft {
    private final int number;
    private final String name;
    private String breaks = "";
    private String shownBy = "";
    private String outside = "";
    private String className = "";
    private final List<Change> changes = new ArrayList<>();

    Draft(int number, String name) {
      this.number = number;
      this.name = name;
    }

    void take(String line) {
      switch (line.charAt(0)) {
        case '-' -> {
          if (changes.isEmpty() || !changes.getLast().added().isEmpty()) {
            changes.add(new Change(new ArrayList<>(), new ArrayList<>()));
          }
          changes.getLast().removed().add(line.substring(1).strip());
        }
        case '+' -> changes.getLast().added().add(line.substring(1).strip());
        default -> field(line);
      }
    }

    private void field(String line) {
      String[] parts = line.split(": ", 2);
      switch (parts[0]) {
        case "breaks" -> breaks = parts[1];
        case "shown by" -> shownBy = parts[1];
        case "outside" -> outside = parts[1];
        case "class" -> className = parts[1];
        case "was" -> {
          // The subject of the commit that repaired it.
        }
        default -> throw new IllegalArgumentException(FILE + ": unknown line: " + line);
      }
    }

    Mutation mutation() {
      if (breaks.isEmpty() || shownBy.isEmpty() || className.isEmpty() || changes.isEmpty()) {
        throw new IllegalArgumentException(FILE + ": mutation " + number + " is not complete");
      }
      return new Mutation(number, name, breaks, shownBy, outside, className, List.copyOf(changes));
    }
  }
}
