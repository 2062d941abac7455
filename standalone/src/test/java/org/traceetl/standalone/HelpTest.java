package org.traceetl.standalone;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.traceetl.agent.LogAgent;
import org.traceetl.server.TraceEtlServer;
import picocli.CommandLine;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.UsageMessageSpec;

/** Tests what commands print of themselves, by their longest names: those of a checkout. */
final class HelpTest {
  private static final int COLUMNS = 80;

  static Stream<Arguments> commands() {
    return Stream.of(
            Standalone.commandLine().setCommandName("bin/demo"),
            LogAgent.commandLine(Map.of()).setCommandName("bin/log-agent"),
            TraceEtlServer.commandLine().setCommandName("bin/trace-etl-server"))
        .flatMap(program ->
            Stream.concat(Stream.of(program), program.getSubcommands().values().stream()))
        .map(command -> Arguments.of(command.getCommandSpec().qualifiedName(), command));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("commands")
  void helpAndVersionNeedNoOtherOption(String name, CommandLine command) {
    String usage = "Usage: " + name + " [-hV] ";
    assertThat(run(command, "-h")).startsWith(usage).isEqualTo(run(command, "--help"));
    assertThat(run(command, "-V"))
        .matches(Pattern.quote(name.replaceAll(" .*", "")) + " \\S+\n")
        .isEqualTo(run(command, "--version"));
    assertThat(run(command, "-h"))
        .contains(" -h, --help ", " Prints this help and exits.\n")
        .contains(" -V, --version ", " Prints the version and exits.\n");
  }

  private static String run(CommandLine command, String option) {
    StringWriter out = new StringWriter();
    CommandLine program = Objects.requireNonNullElse(command.getParent(), command);
    program.setOut(new PrintWriter(out));
    int code =
        program == command
            ? program.execute(option)
            : program.execute(command.getCommandName(), option);
    assertThat(code).isZero();
    return out.toString();
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("commands")
  void helpFitsATerminalWithoutBrokenWords(String name, CommandLine command) {
    String help = command.getUsageMessage();
    assertThat(help.lines()).allSatisfy(line -> assertThat(line).hasSizeLessThanOrEqualTo(COLUMNS));
    UsageMessageSpec texts = command.getCommandSpec().usageMessage();
    assertThat(help.split("\\s+"))
        .contains(
            Stream.of(
                    Stream.of(texts.description(), texts.footer()),
                    command.getCommandSpec().args().stream().map(ArgSpec::description))
                .flatMap(parts -> parts)
                .flatMap(Arrays::stream)
                .flatMap(text -> Stream.of(text.strip().split("\\s+")))
                .filter(word -> !word.isEmpty())
                .toArray(String[]::new));
  }

  /** Deeper lines belong to the line before: a continued command, or the body of a loop. */
  @ParameterizedTest(name = "{0}")
  @MethodSource("commands")
  void examplesCanBeCopied(String name, CommandLine command) {
    List<String> help = command.getUsageMessage().lines().toList();
    List<String> footer = List.of(command.getCommandSpec().usageMessage().footer());
    assertThat(help).containsAll(footer.stream().filter(line -> line.startsWith("  ")).toList());
    for (int i = 1; i < footer.size(); i++) {
      String before = footer.get(i - 1);
      assertThat(before.endsWith(" \\") || before.endsWith("; do"))
          .as("%s%n%s", before, footer.get(i))
          .isEqualTo(footer.get(i).startsWith("    "));
    }
  }
}
