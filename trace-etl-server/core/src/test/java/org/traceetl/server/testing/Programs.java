package org.traceetl.server.testing;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.stream.Stream;

/** Programs that tests run for real, where the machine has them. */
public final class Programs {
  private Programs() {}

  /**
   * Where a program is: the system property {@code traceetl.NAME}, or on the PATH. Says what was
   * found and what was not, so that nothing is left out in silence.
   */
  public static Optional<Path> find(String name) {
    String told = System.getProperty("traceetl." + name);
    Stream<Path> candidates =
        told != null
            ? Stream.of(Path.of(told))
            : Stream.of(System.getenv("PATH").split(File.pathSeparator, -1))
                .map(directory -> Path.of(directory, name));
    Optional<Path> found = candidates.filter(Files::isExecutable).findFirst();
    System.out.println(
        found
            .map(path -> "Real component: " + name + ", " + path)
            .orElse("NOT RUN: " + name + " is neither on the PATH nor named by traceetl." + name));
    return found;
  }
}
