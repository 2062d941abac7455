package org.traceetl.perf.simulate.world;

import java.lang.reflect.Constructor;
import java.util.concurrent.Executor;

/**
 * Creates virtual threads with a scheduler of one's own. JDK 25 has that only as a private
 * constructor, which its own tests use: {@code java.lang.ThreadBuilders.VirtualThreadBuilder}.
 */
final class VirtualThreads {
  private static final Constructor<?> BUILDER = builder();

  private VirtualThreads() {}

  private static Constructor<?> builder() {
    try {
      Constructor<?> constructor =
          Class.forName("java.lang.ThreadBuilders$VirtualThreadBuilder")
              .getDeclaredConstructor(Executor.class);
      constructor.setAccessible(true);
      return constructor;
    } catch (ReflectiveOperationException | RuntimeException e) {
      throw new IllegalStateException(
          "the simulation requires JDK 25 and its option --add-opens"
              + " java.base/java.lang=ALL-UNNAMED",
          e);
    }
  }

  static Thread.Builder builder(Executor scheduler) {
    try {
      return (Thread.Builder) BUILDER.newInstance(scheduler);
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(e);
    }
  }
}
