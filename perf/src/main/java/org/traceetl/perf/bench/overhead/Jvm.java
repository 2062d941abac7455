package org.traceetl.perf.bench.overhead;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Runs programs of this class path as processes. */
final class Jvm {
  private Jvm() {}

  /** Returns the command of a main class with JVM options; arguments may be appended. */
  static List<String> command(Class<?> main, String... options) {
    return command(main.getName(), options);
  }

  /** Returns the command of a class by its name. */
  static List<String> command(String main, String... options) {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of(options));
    command.addAll(
        List.of(
            "--enable-native-access=ALL-UNNAMED",
            "--sun-misc-unsafe-memory-access=allow",
            "-cp",
            System.getProperty("java.class.path"),
            main));
    return command;
  }
}
