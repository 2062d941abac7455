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

  private static final boolean IS_LINUX = System.getProperty("os.name").equals("Linux");

  private Niceness() {}

  private static final class Nice {
    private static final MethodHandle HANDLE =
        Linker.nativeLinker()
            .downcallHandle(
                Linker.nativeLinker().defaultLookup().findOrThrow("nice"),
                FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_INT));
  }

  /** Returns work that gives its thread the greatest niceness before it begins. */
  static Runnable raisedIn(Runnable work) {
    return IS_LINUX
        ? () -> {
          raise();
          work.run();
        }
        : work;
  }

  private static void raise() {
    try {
      // If the kernel refuses, the thread works as others do.
      int ignored = (int) Nice.HANDLE.invokeExact(GREATEST);
    } catch (Error | RuntimeException e) {
      throw e;
    } catch (Throwable e) {
      throw new LinkageError("nice cannot be called", e);
    }
  }
}
