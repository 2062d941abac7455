package org.traceetl.standalone;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import picocli.CommandLine;
import picocli.CommandLine.Help.Ansi;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

/**
 * Writes the man pages of the command {@code trace-etl} of a release and of its commands: the texts
 * of their {@code --help} in the macros of man(7). They have no date, so equal texts give equal
 * bytes.
 */
public final class ManPages {
  private static final String TITLE = CompletionScript.COMMAND;

  private final StringBuilder page = new StringBuilder();

  private ManPages() {}

  /**
   * Writes the pages.
   *
   * @param arguments the folder of the pages, and the version of the release
   */
  public static void main(String... arguments) throws IOException {
    write(Path.of(arguments[0]), arguments[1], CompletionScript.command());
  }

  /** Writes a page for a command and one for each of its commands. */
  static void write(Path folder, String version, CommandLine command) throws IOException {
    Files.createDirectories(folder);
    List<CommandLine> pages = new ArrayList<>(List.of(command));
    pages.addAll(command.getSubcommands().values());
    for (CommandLine one : pages) {
      ManPages writer = new ManPages();
      writer.append(one, version, pages);
      Files.writeString(folder.resolve(name(one) + ".1"), writer.page, UTF_8);
    }
  }

  private static String name(CommandLine command) {
    return command.getCommandSpec().qualifiedName("-");
  }

  private void append(CommandLine command, String version, List<CommandLine> pages) {
    CommandSpec spec = command.getCommandSpec();
    line(
        ".TH \"%s\" 1 \"\" \"%s %s\" \"%s\""
            .formatted(name(command).toUpperCase(Locale.ROOT), TITLE, version, TITLE));
    section("NAME");
    line(escaped(name(command)) + " \\- " + escaped(summary(command)));
    section("SYNOPSIS");
    line(escaped(command.getHelp().synopsis(0).strip().replaceAll("\\s+", " ")));
    section("DESCRIPTION");
    paragraphs(spec.usageMessage().description());
    if (!command.getSubcommands().isEmpty()) {
      section("COMMANDS");
      command
          .getSubcommands()
          .values()
          .forEach(one -> item("\\fB" + escaped(one.getCommandName()) + "\\fR", summary(one)));
    }
    section("OPTIONS");
    spec.positionalParameters().stream()
        .filter(parameter -> !parameter.hidden())
        .forEach(parameter -> item(label(parameter), text(parameter)));
    spec.options().stream()
        .filter(option -> !option.hidden())
        .forEach(option -> item(names(option), text(option)));
    if (spec.usageMessage().footer().length > 0) {
      section("NOTES");
      paragraphs(spec.usageMessage().footer());
    }
    section("SEE ALSO");
    line(
        pages.stream()
            .map(ManPages::name)
            .filter(other -> !other.equals(name(command)))
            .map(other -> "\\fB" + escaped(other) + "\\fR(1)")
            .collect(Collectors.joining(", ")));
  }

  /** Returns the first sentence of the description, without its full stop. */
  private static String summary(CommandLine command) {
    String text = String.join(" ", command.getCommandSpec().usageMessage().description());
    return plain(text).strip().replaceAll("(?s)[.:](\\s.*)?$", "");
  }

  private static String names(OptionSpec option) {
    String names =
        Arrays.stream(option.names())
            .map(name -> "\\fB" + escaped(name) + "\\fR")
            .collect(Collectors.joining(", "));
    return option.arity().max() == 0 ? names : names + "=" + label(option);
  }

  private static String label(ArgSpec argument) {
    return "\\fI" + escaped(argument.paramLabel().replaceAll("[<>]", "")) + "\\fR";
  }

  private static String text(ArgSpec argument) {
    return plain(String.join(" ", argument.description()));
  }

  /** Returns a text without the markup of picocli. */
  private static String plain(String text) {
    return Ansi.OFF.string(text).replace("%n", "\n").replace("%%", "%");
  }

  /** Returns a text of which no character is one of roff. */
  private static String escaped(String text) {
    return text.replace("\\", "\\e").replace("-", "\\-").replaceAll("(?m)^(?=[.'])", "\\\\&");
  }

  private void section(String title) {
    line(".SH " + title);
  }

  private void item(String name, String text) {
    line(".TP");
    line(name);
    line(escaped(text.strip().replaceAll("\\s+", " ")));
  }

  /**
   * Appends lines. An empty one ends a paragraph; an indented one stays as it is, as an example.
   */
  private void paragraphs(String... texts) {
    boolean isExample = false;
    for (String line : plain(String.join("\n", texts)).strip().lines().toList()) {
      boolean wasExample = isExample;
      isExample = line.startsWith("  ");
      if (isExample != wasExample) {
        line(isExample ? ".PP\n.nf" : ".fi");
      }
      line(line.isBlank() ? ".PP" : escaped(line));
    }
    if (isExample) {
      line(".fi");
    }
  }

  private void line(String line) {
    page.append(line).append('\n');
  }
}
