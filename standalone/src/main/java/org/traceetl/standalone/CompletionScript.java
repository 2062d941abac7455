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
  static final String COMMAND = "trace-etl";

  private CompletionScript() {}

  public static void main(String... arguments) {
    PrintWriter out = new PrintWriter(System.out, true, StandardCharsets.UTF_8);
    out.print(AutoComplete.bash(COMMAND, command()));
    out.flush();
  }

  /** Returns the commands of {@code deploy/release/trace-etl}. */
  static CommandLine command() {
    CommandLine command =
        new CommandLine(spec())
            .addSubcommand("demo", Standalone.commandLine())
            .addSubcommand("agent", LogAgent.commandLine(Map.of()).setCommandName("agent"));
    CommandLine server = TraceEtlServer.commandLine().setCommandName("server");
    for (String name : server.getSubcommands().keySet().toArray(String[]::new)) {
      CommandLine sub = server.getSubcommands().get(name);
      server.getCommandSpec().removeSubcommand(name);
      command.addSubcommand(name, sub);
    }
    return command.addSubcommand("server", server);
  }

  private static CommandSpec spec() {
    CommandSpec spec =
        CommandSpec.create()
            .name(COMMAND)
            .mixinStandardHelpOptions(true)
            .resourceBundleBaseName("org.traceetl.common.help");
    spec.usageMessage()
        .description("Runs a program of trace-etl.")
        .footer(
            "Needs Java 25 or newer: the folder jre of the archive if it has one, else JAVA_HOME,"
                + " else java on PATH. JAVA_OPTS adds options of the JVM, for example"
                + " JAVA_OPTS=-Xmx3g.",
            "",
            "The folder conf of the archive has configurations to begin with.");
    return spec;
  }
}
