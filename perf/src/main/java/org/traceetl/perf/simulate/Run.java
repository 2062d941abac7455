package org.traceetl.perf.simulate;

import java.io.PrintWriter;
import java.io.StringWriter;
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
  private static final int NOTES = 400;
  private static final long SLICE_NANOS = TimeUnit.SECONDS.toNanos(1);
  private static final long PROGRESS_NANOS = TimeUnit.SECONDS.toNanos(10);

  private final Plan plan;
  private final Consumer<String> progress;
  private final Watchdog watchdog;
  private final Timeline timeline = new Timeline(NOTES, null);
  private final List<String> failures = new ArrayList<>();

  /**
   * @param progress receives a line each ten seconds of real time
   */
  public Run(Plan plan, Consumer<String> progress) {
    this(plan, progress, new Watchdog(System.nanoTime()));
  }

  Run(Plan plan, Consumer<String> progress, Watchdog watchdog) {
    this.plan = plan;
    this.progress = progress;
    this.watchdog = watchdog;
  }

  /** Runs to the end, or to the first failure. */
  public Outcome call() {
    final long startNanos = System.nanoTime();
    World world = new World(plan.seed(), timeline);
    ProgramLog.passTo((thread, line) -> timeline.note(world.running(), thread + ": " + line));
    SimulatedInstallation installation = new SimulatedInstallation(world, plan, failures::add);
    Scenario scenario = new Scenario(world, plan.schedule(), installation, installation, failures);
    installation.start();
    world.spawn("scenario", scenario);
    long printedNanos = startNanos;
    try {
      while (!scenario.ended() && failures.isEmpty() && !installation.hasLostConfirmed()) {
        watchdog.progress(System.nanoTime(), plan.seed(), world.nanos());
        world.run(world.nanos() + SLICE_NANOS);
        if (System.nanoTime() - printedNanos > PROGRESS_NANOS) {
          printedNanos = System.nanoTime();
          progress.accept(
              String.format(
                  Locale.ROOT,
                  "simulated %s, %d spans, %d quiet points, the longest %.0f s",
                  Schedule.time(TimeUnit.NANOSECONDS.toMillis(world.nanos())),
                  installation.spans(),
                  scenario.quietPoints(),
                  scenario.longestQuietNanos() / 1e9));
        }
      }
      if (installation.hasLostConfirmed()) {
        progress.accept("The run ends because brokers lost confirmed messages");
      }
    } catch (ProgramFailure e) {
      failures.add(e.getMessage() + (e.getCause() == null ? "" : ": " + text(e.getCause())));
    } catch (RuntimeException | Error e) {
      failures.add("the simulation cannot continue: " + text(e));
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
        timeline.notes().stream().map(Timeline.Note::toString).toList());
  }

  private static String text(Throwable failure) {
    StringWriter text = new StringWriter();
    failure.printStackTrace(new PrintWriter(text));
    return text.toString();
  }
}
