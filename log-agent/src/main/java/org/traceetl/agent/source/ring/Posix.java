package org.traceetl.agent.source.ring;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.VarHandle;
import java.nio.file.Path;

/**
 * Linux system calls that the JDK does not provide. A failed call throws an {@link IOException}
 * with the error number.
 */
final class Posix {
  static final int O_RDONLY = 0;
  static final int O_RDWR = 2;
  static final int O_NONBLOCK = 0x800;
  static final int O_CLOEXEC = 0x80000;

  /** Exclusive and non-blocking. */
  private static final int LOCK_EX_NB = 2 | 4;

  private static final int SEEK_HOLE = 4;
  private static final short POLLIN = 1;
  private static final int EINTR = 4;

  private static final Linker LINKER = Linker.nativeLinker();
  private static final Linker.Option ERRNO = Linker.Option.captureCallState("errno");
  private static final MemoryLayout STATE = Linker.Option.captureStateLayout();
  private static final VarHandle ERRNO_OF =
      STATE.varHandle(MemoryLayout.PathElement.groupElement("errno"));

  private static final MethodHandle MKFIFO =
      function("mkfifo", FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_INT), ERRNO);
  private static final MethodHandle OPEN =
      function(
          "open",
          FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_INT),
          ERRNO,
          Linker.Option.firstVariadicArg(2));
  private static final MethodHandle FLOCK =
      function("flock", FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT), ERRNO);
  private static final MethodHandle POLL =
      function("poll", FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_LONG, JAVA_INT), ERRNO);
  private static final MethodHandle READ =
      function("read", FunctionDescriptor.of(JAVA_LONG, JAVA_INT, ADDRESS, JAVA_LONG), ERRNO);
  private static final MethodHandle WRITE =
      function("write", FunctionDescriptor.of(JAVA_LONG, JAVA_INT, ADDRESS, JAVA_LONG), ERRNO);
  private static final MethodHandle CLOSE =
      function("close", FunctionDescriptor.of(JAVA_INT, JAVA_INT), ERRNO);
  private static final MethodHandle LSEEK =
      function("lseek", FunctionDescriptor.of(JAVA_LONG, JAVA_INT, JAVA_LONG, JAVA_INT), ERRNO);
  private static final MethodHandle GETEUID = function("geteuid", FunctionDescriptor.of(JAVA_INT));

  private Posix() {}

  private static MethodHandle function(
      String name, FunctionDescriptor descriptor, Linker.Option... options) {
    return LINKER.downcallHandle(LINKER.defaultLookup().findOrThrow(name), descriptor, options);
  }

  /** Returns the effective user ID of this process. */
  static int effectiveUser() {
    try {
      return (int) GETEUID.invokeExact();
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  /** Creates a FIFO that only its owner may use. */
  static void makeFifo(Path path) throws IOException {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment state = arena.allocate(STATE);
      int result = (int) MKFIFO.invokeExact(state, arena.allocateFrom(path.toString()), 0600);
      check(result, "mkfifo", state);
    } catch (Throwable e) {
      throw failure(e);
    }
  }

  /**
   * Opens a file.
   *
   * @return its descriptor
   */
  static int open(Path path, int flags) throws IOException {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment state = arena.allocate(STATE);
      int result = (int) OPEN.invokeExact(state, arena.allocateFrom(path.toString()), flags);
      check(result, "open", state);
      return result;
    } catch (Throwable e) {
      throw failure(e);
    }
  }

  /** Locks the open file for this descriptor; returns false if another descriptor has the lock. */
  static boolean lock(int descriptor) throws IOException {
    try (Arena arena = Arena.ofConfined()) {
      return (int) FLOCK.invokeExact(arena.allocate(STATE), descriptor, LOCK_EX_NB) == 0;
    } catch (Throwable e) {
      throw failure(e);
    }
  }

  /** Waits for data to read or a signal; returns true if there is data. */
  static boolean awaitReadable(int descriptor, int mostMillis) throws IOException {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment state = arena.allocate(STATE);
      // struct pollfd: the descriptor, 2 bytes of requested events, 2 of returned events.
      MemorySegment poll = arena.allocate(8, 4);
      poll.set(JAVA_INT, 0, descriptor);
      poll.set(ValueLayout.JAVA_SHORT, 4, POLLIN);
      int result = (int) POLL.invokeExact(state, poll, 1L, mostMillis);
      if (result < 0 && (int) ERRNO_OF.get(state, 0L) == EINTR) {
        return false;
      }
      check(result, "poll", state);
      return result > 0;
    } catch (Throwable e) {
      throw failure(e);
    }
  }

  /** Reads and discards up to 4 KiB. */
  static void discard(int descriptor) throws IOException {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment into = arena.allocate(4_096);
      long _ = (long) READ.invokeExact(arena.allocate(STATE), descriptor, into, into.byteSize());
    } catch (Throwable e) {
      throw failure(e);
    }
  }

  /** Writes one byte, unless the FIFO is full. */
  static void writeByte(int descriptor) throws IOException {
    try (Arena arena = Arena.ofConfined()) {
      long _ = (long) WRITE.invokeExact(arena.allocate(STATE), descriptor, arena.allocate(1), 1L);
    } catch (Throwable e) {
      throw failure(e);
    }
  }

  /** Returns the offset of the file's first hole; its length if it has none. */
  static long firstHole(int descriptor) throws IOException {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment state = arena.allocate(STATE);
      long result = (long) LSEEK.invokeExact(state, descriptor, 0L, SEEK_HOLE);
      check((int) Math.min(result, 0), "lseek", state);
      return result;
    } catch (Throwable e) {
      throw failure(e);
    }
  }

  static void close(int descriptor) {
    try (Arena arena = Arena.ofConfined()) {
      int _ = (int) CLOSE.invokeExact(arena.allocate(STATE), descriptor);
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  private static void check(int result, String call, MemorySegment state) throws IOException {
    if (result < 0) {
      throw new IOException(call + " failed with error " + (int) ERRNO_OF.get(state, 0L));
    }
  }

  /** Returns the call's own failure, or an error for what a method handle cannot throw. */
  private static IOException failure(Throwable thrown) {
    if (thrown instanceof IOException e) {
      return e;
    }
    throw unexpected(thrown);
  }

  private static RuntimeException unexpected(Throwable thrown) {
    if (thrown instanceof Error e) {
      throw e;
    }
    return thrown instanceof RuntimeException e ? e : new IllegalStateException(thrown);
  }
}
