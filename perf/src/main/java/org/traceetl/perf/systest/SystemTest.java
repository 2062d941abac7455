package org.traceetl.perf.systest;

import java.io.IOException;
import java.io.PrintStream;
import java.net.http.HttpClient;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.format.DateTimeParseException;
import java.util.Locale;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.commons.io.file.PathUtils;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/**
 * The frame of a system test. It parses the command line, starts an installation in a directory and
 * runs a scenario. It always ends all programs, and deletes the files of a successful run.
 */
public abstract class SystemTest<I extends Installation> implements Callable<Integer> {
  private static final Duration CLOSE_LIMIT = Duration.ofSeconds(20);

  @Spec private CommandSpec spec;

  @Option(
      names = "--seed",
      description = "Repeats the random choices of another run (default: random).")
  private Long seed;

  @Option(
      names = "--directory",
      description =
          "For data and logs; is kept (default: a temporary one, which is kept after a failure).")
  private Path directory;

  @Option(names = "--help", usageHelp = true, description = "Prints this help.")
  private boolean help;

  @Option(names = "--server-jar", hidden = true, required = true)
  private Path serverJar;

  @Option(names = "--elasticsearch", hidden = true, required = true)
  private Path elasticsearch;

  @Option(
      names = "--prometheus",
      paramLabel = "FILE",
      description = "Another Prometheus program (default: the one on PATH or in .cache/).")
  private Path prometheus;

  protected final PrintStream out = System.out;
  protected final HttpClient http =
      HttpClient.newBuilder().connectTimeout(Duration.ofSeconds(2)).build();

  /**
   * Runs the scenario.
   *
   * @param installation with all of its programs, which are not started yet
   * @param home for data and logs
   * @return whether the run succeeded
   */
  protected abstract boolean run(I installation, Path home, long seed) throws Exception;

  protected abstract void validate();

  /** Chooses ports and writes configurations. */
  protected abstract I install(Path home, Installation.Parts parts)
      throws IOException, InterruptedException;

  @Override
  public final Integer call() throws Exception {
    validate();
    long seedInUse = seed == null ? new Random().nextInt(1_000_000) : seed;
    Path home =
        directory != null
            ? Files.createDirectories(directory.toAbsolutePath())
            : Files.createTempDirectory("trace-etl-" + spec.name() + "-");
    // Elasticsearch runs as another user.
    home.toFile().setExecutable(true, false);
    home.toFile().setReadable(true, false);
    out.printf("seed %d, all logs in %s%n", seedInUse, home);
    I installation =
        install(
            home,
            new Installation.Parts(
                serverJar.toAbsolutePath(),
                elasticsearch.toAbsolutePath(),
                prometheus.toAbsolutePath()));
    CountDownLatch closed = new CountDownLatch(1);
    endOnSignal(Thread.currentThread(), closed);
    boolean good = false;
    try {
      good = run(installation, home, seedInUse);
    } catch (IOException e) {
      out.printf("FAILED: %s; logs are in %s%n", e.getMessage(), home);
    } catch (InterruptedException e) {
      out.printf("Interrupted; logs are in %s%n", home);
    } finally {
      installation.close();
      closed.countDown();
    }
    if (good && directory == null) {
      PathUtils.deleteDirectory(home);
    }
    return good ? 0 : 1;
  }

  /**
   * Returns the parser of a test's options. The script names the Prometheus that it finds, and a
   * later option replaces it.
   */
  protected static CommandLine commandLine(SystemTest<?> test) {
    return new CommandLine(test).setOverwrittenOptionsAllowed(true);
  }

  /** On a signal, interrupts the running thread, which then ends the programs. */
  private static void endOnSignal(Thread runner, CountDownLatch closed) {
    Runnable end =
        () -> {
          runner.interrupt();
          try {
            if (!closed.await(CLOSE_LIMIT.toSeconds(), TimeUnit.SECONDS)) {
              System.err.println("Some programs may still run.");
            }
          } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
          }
        };
    Runtime.getRuntime().addShutdownHook(Thread.ofPlatform().name("end").unstarted(end));
  }

  protected final ParameterException refused(String message) {
    return new ParameterException(spec.commandLine(), message);
  }

  /** Parses a duration such as 90s, 30m or 1h. */
  protected final Duration duration(String option, String text) {
    try {
      return Duration.parse("PT" + text.toUpperCase(Locale.ROOT));
    } catch (DateTimeParseException e) {
      throw refused(option + " = " + text + ": must be such as 90s, 30m or 1h");
    }
  }

  protected static Duration since(long startNanos) {
    return Duration.ofNanos(System.nanoTime() - startNanos);
  }
}
