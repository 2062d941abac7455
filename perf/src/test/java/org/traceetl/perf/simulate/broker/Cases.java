package org.traceetl.perf.simulate.broker;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.traceetl.perf.simulate.world.Timeline;
import org.traceetl.perf.simulate.world.World;

/** A world with a cluster, in which a test runs. */
final class Cases {
  private static final long LIMIT_NANOS = TimeUnit.HOURS.toNanos(2);
  private static final long STEP_NANOS = TimeUnit.SECONDS.toNanos(1);

  private final World world;
  private final SimulatedCluster cluster;

  Cases(long seed, ClusterOptions options) {
    world = new World(seed, new Timeline(1_000));
    cluster = new SimulatedCluster(world, options);
  }

  World world() {
    return world;
  }

  SimulatedCluster cluster() {
    return cluster;
  }

  /** Runs a case on a simulated thread, and throws its failure. */
  void run(BrokerCases.Case body) throws Exception {
    AtomicBoolean ended = new AtomicBoolean();
    AtomicReference<Throwable> failure = new AtomicReference<>();
    world.spawn(
        "case",
        () -> {
          try {
            body.run();
          } catch (Throwable e) {
            failure.set(e);
          }
          ended.set(true);
        });
    while (!ended.get()) {
      assertThat(world.nanos()).as("simulated time").isLessThan(LIMIT_NANOS);
      world.run(world.nanos() + STEP_NANOS);
    }
    switch (failure.get()) {
      case null -> {}
      case Exception e -> throw e;
      case Error e -> throw e;
      default -> throw new AssertionError(failure.get());
    }
  }
}
