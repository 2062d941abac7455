package org.traceetl.standalone;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;

final class ManPagesTest {
  private static final Set<String> MACROS = Set.of(".TH", ".SH", ".TP", ".PP", ".nf", ".fi");
  private static final Pattern OPTION = Pattern.compile("(?<![\\w-])--[a-z][a-z0-9-]*");

  @TempDir private Path folder;

  private final CommandLine command = CompletionScript.command();

  @BeforeEach
  void write() throws IOException {
    ManPages.write(folder, "1.2.3", command);
  }

  private String page(String name) throws IOException {
    return Files.readString(folder.resolve(name + ".1"));
  }

  @Test
  void everyCommandHasAPageWithAllItsOptions() throws IOException {
    try (Stream<Path> files = Files.list(folder)) {
      assertThat(files.map(file -> file.getFileName().toString()))
          .containsExactlyInAnyOrderElementsOf(
              Stream.concat(
                      Stream.of("trace-etl.1"),
                      commands().stream().map(name -> "trace-etl-" + name + ".1"))
                  .toList());
    }
    for (Map.Entry<String, CommandLine> one : command.getSubcommands().entrySet()) {
      List<String> options =
          OPTION
              .matcher(one.getValue().getUsageMessage())
              .results()
              .map(found -> found.group())
              .toList();
      assertThat(options).isNotEmpty();
      assertThat(page("trace-etl-" + one.getKey()).replace("\\", ""))
          .as(one.getKey())
          .contains(options)
          .contains("trace-etl " + one.getKey() + " ")
          .doesNotContain("trace-etl-server " + one.getKey(), "trace-etl-server --");
    }
  }

  /** The script that runs the commands is another file. */
  @Test
  void theCommandsAreThoseOfTheScript() throws IOException {
    String script = Files.readString(Path.of("../deploy/release/trace-etl"));

    assertThat(Pattern.compile("(?m)^  ([a-z]+)  +\\w").matcher(script).results())
        .extracting(line -> line.group(1))
        .containsExactlyInAnyOrderElementsOf(commands());
    assertThat(page("trace-etl")).contains(commands());
  }

  private Set<String> commands() {
    return command.getSubcommands().keySet();
  }

  @Test
  void linesThatBeginWithADotAreMacros() throws IOException {
    try (Stream<Path> files = Files.list(folder)) {
      for (Path file : files.toList()) {
        assertThat(Files.readAllLines(file))
            .filteredOn(line -> line.startsWith(".") || line.startsWith("'"))
            .extracting(line -> line.replaceAll(" .*", ""))
            .isSubsetOf(MACROS);
      }
    }
  }

  @Test
  void textsAreEscaped() throws IOException {
    CommandSpec spec = CommandSpec.create().name("c");
    spec.usageMessage()
        .description("Reads C:\\x and --a. Then 100%%.", ".hidden", "", "Example:", "  c --a");
    spec.addOption(
        CommandLine.Model.OptionSpec.builder("-a", "--all")
            .paramLabel("<x>")
            .type(String.class)
            .description("'quoted',%nand more")
            .build());
    ManPages.write(folder, "1", new CommandLine(spec));

    assertThat(page("c").lines())
        .containsSubsequence(
            ".TH \"C\" 1 \"\" \"trace-etl 1\" \"trace-etl\"",
            "c \\- Reads C:\\ex and \\-\\-a",
            "Reads C:\\ex and \\-\\-a. Then 100%.",
            "\\&.hidden",
            ".PP",
            "Example:",
            ".nf",
            "  c \\-\\-a",
            ".fi",
            ".TP",
            "\\fB\\-a\\fR, \\fB\\-\\-all\\fR=\\fIx\\fR",
            "\\&'quoted', and more");
  }
}
