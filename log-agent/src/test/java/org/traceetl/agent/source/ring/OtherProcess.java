package org.traceetl.agent.source.ring;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.google.common.base.Utf8;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.trace.TraceState;
import io.opentelemetry.context.ImplicitContextKeyed;
import io.opentelemetry.sdk.resources.Resource;
import io.opentelemetry.sdk.testing.trace.TestSpanData;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.prometheus.client.Collector;
import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.CodeSource;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.assertj.core.api.Assertions;
import org.awaitility.Awaitility;
import org.hamcrest.Matcher;
import org.slf4j.Logger;
import org.traceetl.common.LogThrottle;
import org.traceetl.proto.ring.RingLayout;
import org.traceetl.proto.ring.RingWriter;

/** A test program run as another user, or in its own namespaces as in a container. */
final class OtherProcess implements AutoCloseable {
  private final Process process;
  private final BufferedReader output;

  private OtherProcess(Process process) {
    this.process = process;
    this.output = process.inputReader();
  }

  /** Skips the test unless it can start processes of other users and containers. */
  static void assumeRoot() {
    assume(Posix.effectiveUser() == 0, "processes of other users and in namespaces: needs root");
  }

  /** Skips the test if root may not create namespaces, as in a container. */
  static void assumeNamespaces() throws Exception {
    assumeRoot();
    Process unshare = new ProcessBuilder(inNamespaces("true")).start();
    assume(unshare.waitFor() == 0, "processes in namespaces: unshare is not permitted");
  }

  /** Prints the skipped test. */
  private static void assume(boolean possible, String what) {
    if (!possible) {
      System.out.println("NOT RUN: " + what);
    }
    assumeTrue(possible, what);
  }

  /** Starts a program as another user, whose only group has this number. */
  static OtherProcess of(int user, int group, Path classes, Class<?> program, String... arguments)
      throws IOException {
    return start(
        List.of("setpriv", "--reuid=" + user, "--regid=" + group, "--clear-groups"),
        classes,
        program,
        arguments);
  }

  /** Starts a program as a container's first process, with its own process IDs and mounts. */
  static OtherProcess inNamespaces(Path classes, Class<?> program, String... arguments)
      throws IOException {
    return start(inNamespaces(), classes, program, arguments);
  }

  private static List<String> inNamespaces(String... command) {
    List<String> all =
        new ArrayList<>(
            List.of("unshare", "--pid", "--mount", "--mount-proc", "--fork", "--kill-child"));
    all.addAll(List.of(command));
    return all;
  }

  private static OtherProcess start(
      List<String> how, Path classes, Class<?> program, String... arguments) throws IOException {
    List<String> command = new ArrayList<>(how);
    command.addAll(
        List.of(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-Xmx64m",
            "-XX:+UseSerialGC",
            "-XX:TieredStopAtLevel=1",
            "-XX:-UsePerfData",
            "--enable-native-access=ALL-UNNAMED",
            "-cp",
            classPath(classes),
            program.getName()));
    command.addAll(List.of(arguments));
    return new OtherProcess(
        new ProcessBuilder(command).directory(classes.toFile()).redirectErrorStream(true).start());
  }

  /**
   * Copies the programs' classes to a directory that all users may read; a checkout and a
   * repository of libraries may be closed to them.
   */
  static void copyClasses(Path into) throws IOException {
    Set<Path> sources = new LinkedHashSet<>();
    for (Class<?> one :
        List.of(
            RingSource.class,
            RingAgentProgram.class,
            RingLayout.class,
            RingWriter.class,
            org.traceetl.exporter.ring.RingWriter.class,
            TraceState.class,
            Attributes.class,
            ImplicitContextKeyed.class,
            Resource.class,
            SpanData.class,
            TestSpanData.class,
            Collector.class,
            Logger.class,
            Utf8.class,
            LogThrottle.class,
            Assertions.class,
            Awaitility.class,
            Matcher.class)) {
      CodeSource source = one.getProtectionDomain().getCodeSource();
      sources.add(Path.of(source.getLocation().getPath()));
    }
    Files.createDirectories(into);
    int number = 0;
    for (Path source : sources) {
      if (Files.isDirectory(source)) {
        copyTree(source, into.resolve(Integer.toString(number++)));
      } else {
        Files.copy(source, into.resolve(source.getFileName()));
      }
    }
  }

  private static void copyTree(Path from, Path to) throws IOException {
    try (Stream<Path> files = Files.walk(from)) {
      for (Path file : files.toList()) {
        Files.copy(file, to.resolve(from.relativize(file).toString()));
      }
    }
  }

  private static String classPath(Path classes) throws IOException {
    try (Stream<Path> all = Files.list(classes)) {
      return all.map(Path::toString).collect(Collectors.joining(File.pathSeparator));
    }
  }

  /** Waits for a line, and fails with the output if it does not appear. */
  void awaitLine(String wanted) throws IOException {
    StringBuilder said = new StringBuilder();
    for (String line = output.readLine(); line != null; line = output.readLine()) {
      if (line.equals(wanted)) {
        return;
      }
      said.append(line).append('\n');
    }
    throw new AssertionError("it ended without saying " + wanted + ":\n" + said);
  }

  void kill() {
    process.destroyForcibly();
    try {
      process.waitFor(30, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  @Override
  public void close() {
    kill();
    try {
      output.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
