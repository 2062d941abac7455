package org.traceetl.server;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.traceetl.common.Clocks;
import org.traceetl.common.ConfigException;
import org.traceetl.common.TlsRefused;
import org.traceetl.server.binding.ConfigurationRefused;
import org.traceetl.server.binding.RulesFile;
import org.traceetl.server.binding.ServerConfig;
import org.traceetl.server.features.preview.PreviewLimits;
import org.traceetl.server.features.preview.RulesComparison;
import org.traceetl.server.rules.Rules;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;
import picocli.CommandLine.Unmatched;
import tools.jackson.databind.json.JsonMapper;

/** Compares what the series of an application cost by the rules in force and by a file of rules. */
@Command(
    name = "preview",
    description = {
      "Compares what the series of an application cost by the rules that servers follow and by a"
          + " file of rules: series, values of each label, series above the limit, memory, page and"
          + " samples. If no rules were published, servers follow the configuration. They do not"
          + " read the file.",
      "",
      "Reads the messages that the broker retains, outside the consumer group, and changes nothing."
          + " Figures that begin with ~ are estimated from the sample of whole spans, because"
          + " agents sent groups without a dimension. Learnt names are ignored.",
      ""
    },
    footer = {
      "",
      "Set a configuration key as --KEY=VALUE, as an environment variable or in the file.",
      "",
      "Example:",
      "  ${COMMAND-FULL-NAME} --config trace-etl-server.yaml \\",
      "    --application checkout --rules rules.yaml --since 6h",
      "",
      "Exit codes: 0 compared; 1 a topic cannot be read, or has no spans of the application since"
          + " then; 2 the configuration, the file or an option is invalid."
    })
final class PreviewCommand implements Callable<Integer> {
  private final Clocks clocks;

  @Spec private CommandSpec spec;

  @Mixin private ConfigurationOptions configuration = new ConfigurationOptions();

  @Option(
      names = "--application",
      required = true,
      paramLabel = "NAME",
      description = "The application (service.name), without wildcards.")
  private String application;

  @Option(
      names = "--rules",
      required = true,
      paramLabel = "FILE",
      description = "The file of rules (YAML) to compare with those in force.")
  private Path rules;

  @Option(
      names = "--since",
      paramLabel = "6h",
      converter = CompareCommand.DurationConverter.class,
      description =
          "Reads only messages that are not older than this, such as 30m, 6h or 1d (default: 1h).")
  private Duration since = Duration.ofHours(1);

  @Option(names = "--json", description = "Prints JSON instead of tables.")
  private boolean json;

  @Unmatched private List<String> rest = new ArrayList<>();

  PreviewCommand(Clocks clocks) {
    this.clocks = clocks;
  }

  @Override
  public Integer call() {
    PrintWriter err = spec.commandLine().getErr();
    try {
      ConfigException.check(
          since.isPositive(), "--since", since.toSeconds() + "s", "must be 1s or more");
      RulesComparison comparison = compare();
      PrintWriter out = spec.commandLine().getOut();
      if (json) {
        out.println(new JsonMapper().writeValueAsString(comparison));
      } else {
        comparison.print(out);
      }
      return CommandLine.ExitCode.OK;
    } catch (ConfigurationRefused | ConfigException e) {
      err.println(e.getMessage());
      return CommandLine.ExitCode.USAGE;
    } catch (IOException | TlsRefused e) {
      err.println(e.getMessage());
      return CommandLine.ExitCode.SOFTWARE;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return CommandLine.ExitCode.SOFTWARE;
    }
  }

  private RulesComparison compare() throws IOException, InterruptedException {
    ServerConfig config = configuration.read(spec.commandLine(), rest);
    Rules proposed = RulesFile.read(rules, config);
    PrintWriter progress = spec.commandLine().getErr();
    return new ConfiguredPreview(config, PreviewLimits.COMMAND, clocks)
        .compare(
            application, RulesInForce.read(config, clocks, progress), proposed, since, progress);
  }
}
