package org.traceetl.perf.bench.process;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;

/**
 * The kernel's CPU time of a process, including ended threads, in nanoseconds. It measures what is
 * shorter than the 10 ms steps of {@link Usage}.
 */
public final class CpuClock {
  private static final MethodHandle CLOCK_GETTIME =
      Linker.nativeLinker()
          .downcallHandle(
              Linker.nativeLinker().defaultLookup().findOrThrow("clock_gettime"),
              FunctionDescriptor.of(
                  ValueLayout.JAVA_INT, ValueLayout.JAVA_INT, ValueLayout.ADDRESS));

  private static final int TIMESPEC_BYTES = 16;
  private static final long NANOS_PER_SECOND = 1_000_000_000;

  private final int clock;

  /** Opens the clock of a process; {@code pid} 0 is this process. */
  public CpuClock(long pid) {
    // Computed as in clock_getcpuclockid(3): the inverted process ID, and CPUCLOCK_SCHED.
    clock = (int) (~pid << 3) | 2;
  }

  /**
   * Returns the CPU time since the process began.
   *
   * @throws IllegalStateException if the process does not exist
   */
  public long nanos() {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment time = arena.allocate(TIMESPEC_BYTES, Long.BYTES);
      int status = (int) CLOCK_GETTIME.invokeExact(clock, time);
      if (status != 0) {
        throw new IllegalStateException(
            "the CPU time is not available of process " + (~(clock >> 3)));
      }
      return time.get(ValueLayout.JAVA_LONG, 0) * NANOS_PER_SECOND
          + time.get(ValueLayout.JAVA_LONG, Long.BYTES);
    } catch (Error | RuntimeException e) {
      throw e;
    } catch (Throwable e) {
      throw new LinkageError("clock_gettime cannot be called", e);
    }
  }
}
