package org.traceetl.testkit;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * A program of the installation in its own process. It can be ended, paused, and started again on
 * the same ports and data. For one thread: when the thread ends, the kernel kills the process.
 */
public final class Program {
  private static final Duration PATIENCE = Duration.ofSeconds(2);
  private static final Duration SIGNAL_LIMIT = Duration.ofSeconds(10);
  private static final Duration READY_INTERVAL = Duration.ofMillis(200);

  private final String name;
  private final List<String> command;
  private final Map<String, String> environment;
  private final Path log;
  private final URI ready;
  private Process process;
  private volatile boolean paused;

  /**
   * @param command the program and its arguments
   * @param log gets the output of all runs
   * @param ready answers 200 when the program is ready; null: it is ready when it runs
   */
  public Program(
      String name, List<String> command, Map<String, String> environment, Path log, URI ready) {
    this.name = name;
    this.command = List.copyOf(command);
    this.environment = Map.copyOf(environment);
    this.log = log.toAbsolutePath();
    this.ready = ready;
  }

  public String name() {
    return name;
  }

  public Path log() {
    return log;
  }

  /** Returns the URL that reports readiness; null if there is none. */
  public URI readyUri() {
    return ready;
  }

  public void start() throws IOException {
    if (isRunning()) {
      throw new IllegalStateException(name + " runs already");
    }
    for (String argument : command) {
      if (argument.startsWith("@") && !Files.exists(Path.of(argument.substring(1)))) {
        throw new NoSuchFileException(
            argument.substring(1), null, "needed for the JVM options of " + name);
      }
    }
    List<String> dyingWithUs = new ArrayList<>(List.of("setpriv", "--pdeathsig", "KILL"));
    dyingWithUs.addAll(command);
    ProcessBuilder builder =
        new ProcessBuilder(dyingWithUs)
            .directory(log.getParent().toFile())
            .redirectErrorStream(true)
            .redirectOutput(ProcessBuilder.Redirect.appendTo(log.toFile()));
    builder.environment().putAll(environment);
    paused = false;
    process = builder.start();
  }

  public boolean isRunning() {
    return process != null && process.isAlive();
  }

  /** Returns the process ID while the program runs. */
  public long pid() {
    return process.pid();
  }

  public boolean isPaused() {
    return paused;
  }

  /** Returns the exit code of an ended program. */
  public int exitCode() {
    return process.exitValue();
  }

  /** Kills the process and its descendants as {@code kill -9} does, and waits for their end. */
  public void kill() {
    kill(List.of(this));
  }

  /** Kills several programs at once. */
  public static void kill(List<Program> programs) {
    List<ProcessHandle> all =
        programs.stream()
            .filter(Program::isRunning)
            .map(program -> program.process)
            .flatMap(one -> Stream.concat(Stream.of(one.toHandle()), one.descendants()))
            .toList();
    all.forEach(ProcessHandle::destroyForcibly);
    all.forEach(handle -> handle.onExit().join());
    programs.forEach(program -> program.paused = false);
  }

  /** Sends SIGTERM. */
  public void terminate() {
    process.destroy();
  }

  /** Sends SIGSTOP and waits until none of the threads runs in user mode. */
  public void pause() throws IOException, InterruptedException {
    signal("-STOP");
    paused = true;
    long limitNanos = System.nanoTime() + SIGNAL_LIMIT.toNanos();
    while (runs()) {
      if (System.nanoTime() > limitNanos) {
        throw new IOException("SIGSTOP did not stop each thread of " + name);
      }
      TimeUnit.MILLISECONDS.sleep(1);
    }
  }

  /** Returns whether a thread runs. A thread in an uninterruptible call stops when it returns. */
  private boolean runs() throws IOException {
    try (Stream<Path> threads = Files.list(Path.of("/proc", Long.toString(pid()), "task"))) {
      return threads.anyMatch(Program::runs);
    } catch (NoSuchFileException e) {
      return false; // it has ended
    }
  }

  private static boolean runs(Path thread) {
    try {
      String stat = Files.readString(thread.resolve("stat"));
      // Format of proc_pid_stat(5): the state follows the name, which the last bracket closes.
      return "TtDZX".indexOf(stat.charAt(stat.lastIndexOf(')') + 2)) < 0;
    } catch (IOException e) {
      return false; // it has ended
    }
  }

  public void resume() throws IOException, InterruptedException {
    signal("-CONT");
    paused = false;
  }

  private void signal(String signal) throws IOException, InterruptedException {
    Process kill =
        new ProcessBuilder("kill", signal, Long.toString(process.pid())).inheritIO().start();
    if (!kill.waitFor(SIGNAL_LIMIT) || kill.exitValue() != 0) {
      throw new IOException("kill " + signal + " did not reach " + name);
    }
  }

  /** Returns whether the program is ready. */
  public boolean isReady(HttpClient http) throws InterruptedException {
    if (!isRunning() || paused) {
      return false;
    }
    if (ready == null) {
      return true;
    }
    HttpRequest request = HttpRequest.newBuilder(ready).timeout(PATIENCE).build();
    try {
      return http.send(request, HttpResponse.BodyHandlers.discarding()).statusCode() == 200;
    } catch (IOException e) {
      return false;
    }
  }

  /**
   * Waits until the program is ready.
   *
   * @throws IOException if it ends first, or is not ready within the limit
   */
  public void awaitReady(HttpClient http, Duration limit) throws IOException, InterruptedException {
    long startNanos = System.nanoTime();
    while (!isReady(http)) {
      if (!isRunning() || System.nanoTime() - startNanos > limit.toNanos()) {
        throw new IOException(name + " is not ready; see " + log);
      }
      Thread.sleep(READY_INTERVAL);
    }
  }
}
