package org.traceetl.standalone;

import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import org.traceetl.agent.LogAgent;
import org.traceetl.server.TraceEtlServer;
import picocli.AutoComplete;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;

/**
 * Prints a script that completes the command {@code trace-etl} of a release, its commands and their
 * options, in Bash and Zsh.
 */
public final class CompletionScript {
  private static final String COMMAND = "trace-etl";

  private CompletionScript() {}

  public static void main(String... arguments) {
    PrintWriter out = new PrintWriter(System.out, true, StandardCharsets.UTF_8);
    out.print(AutoComplete.bash(COMMAND, command()));
    out.flush();
  }

  /** Returns the commands of {@code deploy/release/trace-etl}. */
  private static CommandLine command() {
    CommandLine command =
        new CommandLine(CommandSpec.create().name(COMMAND).mixinStandardHelpOptions(true))
            .addSubcommand("demo", Standalone.commandLine())
            .addSubcommand("agent", LogAgent.commandLine(Map.of()));
    CommandLine server = TraceEtlServer.commandLine();
    for (String name : server.getSubcommands().keySet().toArray(String[]::new)) {
      CommandLine sub = server.getSubcommands().get(name);
      server.getCommandSpec().removeSubcommand(name);
      command.addSubcommand(name, sub);
    }
    return command.addSubcommand("server", server);
  }
}
