package org.traceetl.server;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.traceetl.server.binding.ConfigFile;
import picocli.CommandLine;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;

/** The options of a command that uses the server's configuration: its file, and single keys. */
final class ConfigurationOptions {
  private static final List<String> KEYS =
      List.of("trace-etl.", "server.", "spring.", "management.", "logging.");

  @Option(
      names = "--config",
      paramLabel = "FILE",
      description = "Reads the configuration from a YAML or properties file.")
  private Path file;

  /**
   * Returns the arguments from which Spring reads the configuration.
   *
   * @param rest arguments that are no options of the command
   * @throws ParameterException if one of them is not {@code --KEY=VALUE}, or the file is not
   *     readable
   */
  List<String> arguments(CommandLine command, List<String> rest) {
    for (String argument : rest) {
      if (KEYS.stream().noneMatch(key -> argument.startsWith("--" + key))
          || !argument.contains("=")) {
        throw new ParameterException(
            command, argument + ": is neither an option nor --KEY=VALUE with a key of this server");
      }
    }
    List<String> arguments = new ArrayList<>(rest);
    if (file != null) {
      if (!Files.isRegularFile(file) || !Files.isReadable(file)) {
        throw new ParameterException(command, "--config = " + file + ": must be a readable file");
      }
      arguments.add(ConfigFile.argument(file));
    }
    return arguments;
  }
}
