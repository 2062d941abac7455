package org.traceetl.proto;

import java.lang.management.ManagementFactory;

/** What the calling thread allocates. */
final class AllocatedBytes {
  private static final com.sun.management.ThreadMXBean THREADS =
      (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();

  private AllocatedBytes() {}

  static long by(Runnable work) {
    long before = THREADS.getCurrentThreadAllocatedBytes();
    work.run();
    return THREADS.getCurrentThreadAllocatedBytes() - before;
  }
}
