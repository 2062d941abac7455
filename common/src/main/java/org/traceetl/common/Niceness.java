package org.traceetl.common;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;

/**
 * The niceness of a thread, which Java's priorities do not change on Linux. There {@code nice(2)}
 * is about the calling thread alone, and new threads inherit it; elsewhere it is about the process,
 * so it is not called.
 */
final class Niceness {
  /** The greatest niceness; the kernel cuts a sum that is above it. */
  private static final int GREATEST = 19;

  /** Null where threads work as others do. */
  private static final MethodHandle NICE = nice();

  private Niceness() {}

  private static MethodHandle nice() {
    if (!System.getProperty("os.name").equals("Linux")) {
      return null;
    }
    try {
      Linker linker = Linker.nativeLinker();
      return linker.downcallHandle(
          linker.defaultLookup().findOrThrow("nice"),
          FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_INT));
    } catch (RuntimeException e) {
      // The JVM's options deny native access.
      return null;
    }
  }

  /** Returns work that gives its thread the greatest niceness before it begins. */
  static Runnable raisedIn(Runnable work) {
    return NICE == null
        ? work
        : () -> {
          raise();
          work.run();
        };
  }

  private static void raise() {
    try {
      // If the kernel refuses, the thread works as others do.
      int ignored = (int) NICE.invokeExact(GREATEST);
    } catch (Error | RuntimeException e) {
      throw e;
    } catch (Throwable e) {
      throw new LinkageError("nice cannot be called", e);
    }
  }
}
