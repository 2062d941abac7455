package org.traceetl.perf.simulate.server;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.stream.Stream;
import org.traceetl.common.ConfigException;
import org.traceetl.perf.simulate.world.Host;
import org.traceetl.perf.simulate.world.Process;
import org.traceetl.perf.simulate.world.World;
import org.traceetl.server.ServerPlatform;
import org.traceetl.server.ServersOfRules;
import org.traceetl.server.assembly.Brokers;
import org.traceetl.server.binding.Features;
import org.traceetl.server.binding.RulesFile;
import org.traceetl.server.binding.ServerConfig;
import org.traceetl.server.config.HistogramConfig;
import org.traceetl.server.features.backfill.Backfill;
import org.traceetl.server.features.backfill.BackfillRequest;
import org.traceetl.server.features.backfill.LiveRules;
import org.traceetl.server.features.backfill.SpanTopic;
import org.traceetl.server.rules.Rules;

/**
 * A host on which the command {@code backfill --until switch} runs, by its production classes, for
 * the newest rules and all time since the begin of the run. It is repeated in one directory until
 * it has written its files, as an operator does. The directory is one of this machine: what the
 * command writes there has no influence on the world.
 */
public final class SimulatedBackfill extends Host {
  private static final String LOCK = ".lock";
  private static final long REPEAT_NANOS = TimeUnit.SECONDS.toNanos(10);

  /** So slow that it runs for a minute, in which it can be killed. */
  private static final long BYTES_PER_SECOND = 40_000;

  private final String application;
  private final ServerConfig config;
  private final SimulatedRules rules;
  private final Function<Process, Brokers> brokers;
  private final Function<Process, SpanTopic> spans;
  private final Instant since;
  private Path directory;
  private int starts;

  /** Null before all files are written. */
  private List<String> lines;

  /**
   * @param config of the servers
   * @param spans returns the topic of the spans as a process reads it
   */
  public SimulatedBackfill(
      World world,
      String name,
      String application,
      ServerConfig config,
      SimulatedRules rules,
      Function<Process, Brokers> brokers,
      Function<Process, SpanTopic> spans) {
    super(world, name);
    this.application = application;
    this.config = config;
    this.rules = rules;
    this.brokers = brokers;
    this.spans = spans;
    since = Instant.ofEpochMilli(world.unixMillis());
  }

  /** Starts the command again, unless it has written its files. */
  @Override
  public void start() {
    if (lines == null) {
      super.start();
    }
  }

  @Override
  protected Process launch() {
    starts++;
    try {
      if (directory == null) {
        directory = Files.createTempDirectory("simulated-backfill");
      }
      // The system releases the locks of a process that was killed.
      Files.deleteIfExists(directory.resolve(LOCK));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    Process started = world.process(name() + "." + starts);
    started.start("main", () -> run(started));
    return started;
  }

  private void run(Process started) {
    try {
      while (!hasWritten(started)) {
        started.clocks().pause().nanos(REPEAT_NANOS);
      }
      lines = take();
      world.after(0, started::kill);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private boolean hasWritten(Process started) throws InterruptedException {
    try {
      new Backfill(
              request(started),
              spans.apply(started),
              started.clocks(),
              new PrintWriter(Writer.nullWriter()))
          .run();
      return true;
    } catch (ConfigException | IOException e) {
      // The name of the directory differs between equal runs.
      String message = e.getMessage().replace(directory.toString(), "the directory");
      world.timeline().note(name(), "ended: " + message);
      return false;
    }
  }

  private BackfillRequest request(Process started) {
    Rules newest = RulesFile.parse(rules.newest(), config);
    ServerConfig ruled = config.with(newest.of(application, config.rules()));
    LiveRules live =
        ServersOfRules.of(
            config,
            newest,
            new ServerPlatform(
                started.clocks(), started.random(), brokers.apply(started), Features.ALL));
    return new BackfillRequest(
        application,
        ruled.rocketmq(),
        ruled.series(),
        ruled.metrics(),
        new HistogramConfig(ruled.histogram().boundsMillis()),
        ruled.measures(),
        ruled.window(),
        ruled.deduplication(),
        ruled.agents(),
        "backfill_",
        new BackfillRequest.Range(since.toString(), "switch", since, null),
        directory,
        BYTES_PER_SECOND,
        live,
        null);
  }

  /** Returns the lines of the files, and deletes these. */
  private List<String> take() throws IOException {
    List<String> all = new ArrayList<>();
    List<Path> files;
    try (Stream<Path> listed = Files.list(directory)) {
      files = listed.sorted().toList();
    }
    for (Path file : files) {
      if (file.toString().endsWith(".om")) {
        all.addAll(Files.readAllLines(file));
      }
      Files.delete(file);
    }
    Files.delete(directory);
    return all;
  }

  /** Returns the lines of its files in the order of time, once; null before it has ended. */
  public List<String> lines() {
    return lines;
  }

  @Override
  public void drain() {
    kill(0);
  }
}
