package org.traceetl.server;

import java.nio.file.Path;
import java.util.concurrent.Callable;
import org.traceetl.server.migration.Translation;
import picocli.CommandLine;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Translates the configuration of another program into one of this server. */
@Command(
    name = "import",
    description = {
      "Translates a configuration of the OpenTelemetry Collector or of Grafana Tempo into one of"
          + " this server, so that series keep their names, labels and buckets.",
      "",
      "Prints the configuration (YAML) to standard output, with the key from which each part comes."
          + " Prints each key without an exact counterpart to standard error: file, line, key,"
          + " value, what happens and what to do. Connects to nothing and replaces no variables.",
      ""
    },
    footer = {
      "",
      "Example:",
      "  ${COMMAND-FULL-NAME} --collector config.yaml > trace-etl-server.yaml",
      "",
      "To check the result, run the server with --config trace-etl-server.yaml --check-config.",
      "",
      "Exit codes: 0 translated, also if keys have no counterpart; 2 the file or an option is"
          + " invalid, and nothing is printed to standard output."
    })
final class ImportCommand implements Callable<Integer> {
  @Spec private CommandSpec spec;

  @ArgGroup(exclusive = true, multiplicity = "1")
  private Source source;

  @Option(
      names = "--connector",
      paramLabel = "NAME",
      description =
          "With --collector: the connector to translate, such as span_metrics/shop (default: the"
              + " first span_metrics, else signal_to_metrics, that a pipeline uses).")
  private String connector;

  private static final class Source {
    @Option(
        names = "--collector",
        paramLabel = "FILE",
        description =
            "A configuration of the OpenTelemetry Collector: its connectors span_metrics and"
                + " signal_to_metrics, with the pipelines and exporters around them.")
    private Path collector;

    @Option(
        names = "--tempo",
        paramLabel = "FILE",
        description =
            "A configuration of Grafana Tempo: metrics_generator and"
                + " overrides.defaults.metrics_generator.")
    private Path tempo;
  }

  @Override
  public Integer call() {
    CommandLine command = spec.commandLine();
    if (connector != null && source.collector == null) {
      throw new ParameterException(command, "--connector requires --collector");
    }
    try {
      Translation translation =
          source.collector != null
              ? Translation.ofCollector(source.collector, connector)
              : Translation.ofTempo(source.tempo);
      command.getOut().print(translation.yaml());
      command.getOut().flush();
      translation.gaps().forEach(command.getErr()::println);
      return CommandLine.ExitCode.OK;
    } catch (IllegalArgumentException e) {
      command.getErr().println(e.getMessage());
      return CommandLine.ExitCode.USAGE;
    }
  }
}
