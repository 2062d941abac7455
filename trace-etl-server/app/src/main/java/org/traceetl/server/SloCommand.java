package org.traceetl.server;

import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.Callable;
import org.traceetl.common.ConfigException;
import org.traceetl.common.TlsRefused;
import org.traceetl.server.binding.ConfigurationRefused;
import org.traceetl.server.binding.RulesFile;
import org.traceetl.server.binding.ServerConfig;
import org.traceetl.server.config.ObjectiveConfig;
import org.traceetl.server.rules.Rules;
import org.traceetl.server.slo.SloRules;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;
import picocli.CommandLine.Unmatched;

/** Writes the rules for Prometheus that follow from the objectives in a file of rules. */
@Command(
    name = "slo",
    description = {
      "Prints the rules for Prometheus (YAML) of the objectives in a file of rules: error ratios and"
          + " budgets as recording rules, and alerts on several windows and burn rates. Names and"
          + " labels are those of Sloth.",
      "",
      "Connects to nothing. The configuration determines the label of the application.",
      ""
    },
    footer = {
      "",
      "Set a configuration key as --KEY=VALUE, as an environment variable or in the file.",
      "",
      "Example:",
      "  ${COMMAND-FULL-NAME} --config trace-etl-server.yaml --rules rules.yaml \\",
      "    > trace-etl-slo.rules.yaml",
      "",
      "Exit codes: 0 printed; 2 the configuration, the file or an option is invalid, or the file"
          + " has no objectives."
    })
final class SloCommand implements Callable<Integer> {
  @Spec private CommandSpec spec;

  @Mixin private ConfigurationOptions configuration = new ConfigurationOptions();

  @Option(
      names = "--rules",
      required = true,
      paramLabel = "FILE",
      description = "The file of rules (YAML) that the servers apply: trace-etl.rules.file.")
  private Path file;

  @Unmatched private List<String> rest = new ArrayList<>();

  @Override
  public Integer call() {
    PrintWriter out = spec.commandLine().getOut();
    try {
      ServerConfig config = configuration.read(spec.commandLine(), rest);
      Rules rules = RulesFile.readApplied(file, config);
      Collection<ObjectiveConfig> objectives = rules.objectives();
      ConfigException.check(
          !objectives.isEmpty(),
          "--rules",
          file,
          "must have objectives, in defaults or in an element of applications");
      out.print(
          SloRules.yaml(
              objectives,
              config.metrics().profile().labels().getFirst(),
              file.getFileName() + ", revision " + rules.revision()));
      out.flush();
      return CommandLine.ExitCode.OK;
    } catch (ConfigurationRefused | ConfigException | TlsRefused e) {
      spec.commandLine().getErr().println(e.getMessage());
      return CommandLine.ExitCode.USAGE;
    }
  }
}
