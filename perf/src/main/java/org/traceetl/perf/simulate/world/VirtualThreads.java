package org.traceetl.perf.simulate.world;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.lang.reflect.Constructor;
import java.util.concurrent.Executor;

/**
 * Creates virtual threads with a scheduler of one's own. JDK 25 has that only as a private
 * constructor, which its own tests use: {@code java.lang.ThreadBuilders.VirtualThreadBuilder}. What
 * a thread waits for is only in a private field.
 */
final class VirtualThreads {
  private static final Constructor<?> BUILDER = builder();
  private static final VarHandle STATE;
  private static final int UNBLOCKED;

  static {
    try {
      Class<?> thread = Class.forName("java.lang.VirtualThread");
      MethodHandles.Lookup lookup = MethodHandles.privateLookupIn(thread, MethodHandles.lookup());
      STATE = lookup.findVarHandle(thread, "state", int.class);
      UNBLOCKED = (int) lookup.findStaticVarHandle(thread, "UNBLOCKED", int.class).get();
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException("the simulation requires JDK 25", e);
    }
  }

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

  /** Returns whether a thread waited for a monitor, and can have it. */
  static boolean isUnblocked(Thread thread) {
    return (int) STATE.getVolatile(thread) == UNBLOCKED;
  }
}
