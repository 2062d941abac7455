package org.traceetl.agent.source.file;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.time.InstantSource;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import java.util.zip.GZIPOutputStream;
import org.traceetl.agent.config.FilesConfig;
import org.traceetl.agent.source.payload.MemoryIntake;
import org.traceetl.common.Clocks;

/**
 * A source with its intake and a trace log. Tests step it: each {@link #run} passes some time and
 * does all work. Line {@code n} is a span with the ID {@code n}.
 */
final class FileAgent implements AutoCloseable {
  private static final int POLL_MILLIS = 200;

  final MemoryIntake intake = new MemoryIntake("file");
  FileMetrics metrics;
  Path log;
  private final Path directory;
  private FileSource source;
  private long nowNanos;
  private int keptKeys;

  FileAgent(Path directory) throws IOException {
    this.directory = directory;
    log = newLog("checkout");
  }

  /** Creates a directory with a place for another log of the usual glob. */
  Path newLog(String application) throws IOException {
    return Files.createDirectories(directory.resolve("log/" + application + "/trace"))
        .resolve("trace.log");
  }

  String glob() {
    return directory.resolve("log") + "/*/trace/trace.log";
  }

  /** Starts a new run, which knows what the last one left in the spool. */
  FileSource start() throws IOException {
    return start(glob());
  }

  FileSource start(String... globs) throws IOException {
    metrics = new FileMetrics();
    source =
        new FileSource(
            new FilesConfig(List.of(globs), POLL_MILLIS, 1024 * 1024),
            intake,
            intake.positions(),
            metrics,
            new Clocks(() -> nowNanos, InstantSource.system()));
    run();
    return source;
  }

  /** Looks at the files several times, and handles all outcomes. Takes less than the grace. */
  void run() {
    for (int i = 0; i < 8; i++) {
      nowNanos += TimeUnit.MILLISECONDS.toNanos(POLL_MILLIS);
      while (source.doWork() == 0) {
        // The condition works.
      }
    }
  }

  /** Lets so much time pass that files without a path are closed. */
  void passGrace() {
    run();
    nowNanos += TimeUnit.SECONDS.toNanos(6);
    run();
  }

  /** Ends the run; payloads that are held are lost. */
  void stop() {
    source.close();
    source.onEnd();
    intake.forgetHeld();
  }

  void restart() throws IOException {
    stop();
    start();
  }

  /** Has a run read the log and end; the log then holds these lines. */
  void readAndStop(int first, int last) throws IOException {
    append(lines(first, last));
    start();
    stop();
  }

  void append(String text) throws IOException {
    Files.writeString(log, text, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
  }

  /** Appends to the log and has it read. */
  void write(String text) throws IOException {
    append(text);
    run();
  }

  static String lines(int first, int last) {
    return IntStream.rangeClosed(first, last)
        .mapToObj(number -> TraceLines.span("checkout", "GET /" + number % 5, number - 1))
        .collect(Collectors.joining());
  }

  static List<Long> ids(int first, int last) {
    return LongStream.rangeClosed(first, last).boxed().toList();
  }

  /** Compresses the log under another name; the log is then gone. */
  Path compressTo(String name) throws IOException {
    return compress(log, log.resolveSibling(name));
  }

  Path compress(Path file, Path compressed) throws IOException {
    byte[] content = Files.readAllBytes(file);
    keepKey(file);
    Files.delete(file);
    try (OutputStream out = new GZIPOutputStream(Files.newOutputStream(compressed))) {
      out.write(content);
    }
    return compressed;
  }

  /** Changes the log's key, as a disk does that is mounted under another device number. */
  void changeKey() throws IOException {
    Path copy = Files.copy(log, directory.resolve("copy"));
    keepKey(log);
    Files.move(copy, log, StandardCopyOption.REPLACE_EXISTING);
  }

  /** Prevents the reuse of the file's inode number during the test. */
  private void keepKey(Path file) throws IOException {
    Files.createLink(directory.resolve("kept-" + keptKeys++), file);
  }

  @Override
  public void close() {
    if (source != null) {
      stop();
    }
  }
}
