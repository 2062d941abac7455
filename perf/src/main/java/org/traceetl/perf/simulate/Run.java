package org.traceetl.perf.simulate;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.traceetl.perf.simulate.fault.Schedule;
import org.traceetl.perf.simulate.world.ProgramFailure;
import org.traceetl.perf.simulate.world.Timeline;
import org.traceetl.perf.simulate.world.World;

/** Runs a plan in simulated time, on the thread that calls it. */
public final class Run {
  /** The number of last events that an outcome has. */
  static final int NOTES = 400;

  private static final long SLICE_NANOS = TimeUnit.SECONDS.toNanos(1);
  private static final long PROGRESS_NANOS = TimeUnit.SECONDS.toNanos(10);

  private final Plan plan;
  private final Consumer<String> progress;
  private final Watchdog watchdog;
  private final Timeline timeline = new Timeline(NOTES);
  private final List<String> failures = new ArrayList<>();

  /** Null if nothing is recorded. */
  private Path recording;

  private long endNanos = Long.MAX_VALUE;

  /**
   * @param progress receives a line each ten seconds of real time
   */
  public Run(Plan plan, Consumer<String> progress) {
    this(plan, progress, new Watchdog());
  }

  Run(Plan plan, Consumer<String> progress, Watchdog watchdog) {
    this.plan = plan;
    this.progress = progress;
    this.watchdog = watchdog;
  }

  /**
   * Ends the run at a simulated time, without a quiet point, and writes what it leaves.
   *
   * @param file for a {@link RecordedState}
   */
  Run record(Path file, Duration at) {
    recording = file;
    endNanos = at.toNanos();
    return this;
  }

  /**
   * Runs to the end, or to the first failure.
   *
   * @throws UncheckedIOException if a recorded state cannot be read, or does not fit
   */
  public Outcome call() {
    try {
      return run();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private Outcome run() throws IOException {
    final long startNanos = System.nanoTime();
    RecordedState before = plan.from().isEmpty() ? null : RecordedState.read(plan.from().get());
    World world =
        before == null
            ? new World(plan.seed(), timeline)
            : new World(plan.seed(), timeline, before.unixMillis());
    ProgramLog.passTo((thread, line) -> timeline.note(world.running(), thread + ": " + line));
    SimulatedInstallation installation =
        new SimulatedInstallation(world, plan, before != null || recording != null, failures::add);
    if (before != null) {
      before.continueIn(installation.durable());
    }
    Scenario scenario = new Scenario(world, plan.schedule(), installation, installation, failures);
    installation.start();
    world.spawn("scenario", scenario);
    long printedNanos = startNanos;
    try {
      while (!scenario.ended()
          && failures.isEmpty()
          && !installation.hasLostConfirmed()
          && world.nanos() < endNanos) {
        watchdog.progress(plan.seed(), world.nanos());
        world.run(world.nanos() + SLICE_NANOS);
        if (System.nanoTime() - printedNanos > PROGRESS_NANOS) {
          printedNanos = System.nanoTime();
          progress.accept(
              String.format(
                  Locale.ROOT,
                  "Progress: simulated=%s spans=%d quiet_points=%d longest_quiet_seconds=%.0f",
                  Schedule.time(TimeUnit.NANOSECONDS.toMillis(world.nanos())),
                  installation.spans(),
                  scenario.quietPoints(),
                  scenario.longestQuietNanos() / 1e9));
        }
      }
      if (installation.hasLostConfirmed() && installation.mayLoseConfirmed()) {
        failures.clear();
        progress.accept(
            "The run ends early: a master lost confirmed messages that its disk did not have, so"
                + " pages cannot be compared");
      } else if (installation.hasLostConfirmed()) {
        failures.add("brokers with SYNC_FLUSH lost confirmed messages");
      }
    } catch (ProgramFailure e) {
      failures.add(e.getMessage() + (e.getCause() == null ? "" : ": " + text(e.getCause())));
    } catch (RuntimeException | Error e) {
      failures.add("the simulation cannot continue: " + text(e));
    }
    if (installation.hasLostConfirmed() && recording != null) {
      failures.add("brokers lost confirmed messages, so no state is written");
    }
    if (recording != null && failures.isEmpty()) {
      installation.giveUpRequests();
      try {
        RecordedState.write(recording, world.unixMillis(), installation.durable());
      } catch (IOException e) {
        failures.add("the state cannot be written: " + e);
      }
    }
    List<String> last = new ArrayList<>();
    timeline.notes().forEach(note -> last.add(note.toString()));
    if (!failures.isEmpty()) {
      last.addAll(installation.describe());
    }
    return new Outcome(
        plan,
        List.copyOf(failures),
        String.format(Locale.ROOT, "%016x", timeline.hash()),
        TimeUnit.NANOSECONDS.toMillis(world.nanos()),
        Duration.ofNanos(System.nanoTime() - startNanos),
        installation.spans(),
        scenario.longestQuietNanos(),
        scenario.begun(),
        last);
  }

  private static String text(Throwable failure) {
    StringWriter text = new StringWriter();
    failure.printStackTrace(new PrintWriter(text));
    return text.toString();
  }
}
