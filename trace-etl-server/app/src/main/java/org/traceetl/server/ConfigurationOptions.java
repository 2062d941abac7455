package org.traceetl.server;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.traceetl.common.ConfigException;
import org.traceetl.server.binding.ConfigFile;
import org.traceetl.server.binding.ConfigurationRefused;
import org.traceetl.server.binding.ServerConfig;
import org.traceetl.server.profile.MappedSpansProfile;
import org.traceetl.server.web.WebServer;
import picocli.CommandLine;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;

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
   * Reads the configuration of a command that counts spans by rules.
   *
   * @throws ParameterException as {@link #arguments}, and if an option is before the command
   * @throws ConfigurationRefused if the configuration is invalid
   * @throws ConfigException if its profile has rules of its own
   */
  ServerConfig read(CommandLine command, List<String> rest) {
    ParseResult before = command.getParent().getParseResult();
    if (!before.matchedOptions().isEmpty() || !before.unmatched().isEmpty()) {
      throw new ParameterException(
          command,
          "All options must come after the command: " + command.getCommandName() + " --config ...");
    }
    ServerConfig config = WebServer.check(arguments(command, rest));
    checkProfile(config);
    return config;
  }

  /**
   * Checks that spans count by rules.
   *
   * @throws ConfigException if the profile has rules of its own
   */
  static void checkProfile(ServerConfig config) {
    ConfigException.check(
        !(config.metrics().profile() instanceof MappedSpansProfile),
        "trace-etl.metrics.profile",
        config.metrics().profile().id(),
        "must be otel or tempo to count by rules");
  }

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
