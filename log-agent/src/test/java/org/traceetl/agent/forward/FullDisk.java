package org.traceetl.agent.forward;

import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.nio.file.FileSystemException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.traceetl.agent.disk.Disk;
import org.traceetl.agent.disk.Disk.OpenFile;

/** The disk of this machine with limited room for writes, which may hang, and for open files. */
final class FullDisk {
  private final CountDownLatch works;
  volatile int room = Integer.MAX_VALUE;
  volatile long usable = Long.MAX_VALUE;
  volatile boolean refusesToOpen;
  final AtomicInteger refusedWrites = new AtomicInteger();

  FullDisk() {
    this(new CountDownLatch(0));
  }

  /**
   * @param works writes of segments wait until it is open
   */
  FullDisk(CountDownLatch works) {
    this.works = works;
  }

  Disk disk() {
    return proxy(
        Disk.class,
        (method, args) -> {
          if (method.getName().equals("usableBytes")) {
            return usable;
          }
          if (refusesToOpen && method.getName().equals("open")) {
            throw new FileSystemException(args[0].toString(), null, "Too many open files");
          }
          Object answer = call(Disk.SYSTEM, method, args);
          boolean isSegment = args != null && args[0].toString().endsWith(".seg");
          return isSegment && answer instanceof OpenFile file ? limited(file) : answer;
        });
  }

  private OpenFile limited(OpenFile file) {
    return proxy(
        OpenFile.class,
        (method, args) -> {
          if (method.getName().equals("write")) {
            works.await();
          }
          if (!method.getName().equals("write") || room == Integer.MAX_VALUE) {
            return call(file, method, args);
          }
          if (room == 0) {
            refusedWrites.incrementAndGet();
            throw new IOException("No space left on device");
          }
          ByteBuffer from = (ByteBuffer) args[0];
          int part = Math.min(room, from.remaining());
          int left = room - part;
          room = left;
          ByteBuffer slice = from.slice(from.position(), part);
          from.position(from.position() + part);
          return file.write(slice, (long) args[1]);
        });
  }

  private interface Calls {
    Object call(Method method, Object[] args) throws Throwable;
  }

  private static <T> T proxy(Class<T> type, Calls calls) {
    return type.cast(
        Proxy.newProxyInstance(
            type.getClassLoader(),
            new Class<?>[] {type},
            (self, method, args) -> calls.call(method, args)));
  }

  private static Object call(Object target, Method method, Object[] args) throws Throwable {
    try {
      method.setAccessible(true);
      return method.invoke(target, args);
    } catch (InvocationTargetException e) {
      throw e.getCause();
    }
  }
}
