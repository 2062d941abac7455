package org.traceetl.agent;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.traceetl.common.Clocks;
import org.traceetl.common.LogThrottle;
import org.traceetl.common.SteppedTask;
import org.traceetl.common.SteppedThread;

/**
 * Returns memory to the system after a busy period, including the start. Only a collection shrinks
 * the heap, and an idle agent would not fill its heap for hours. So one collection is requested
 * after each busy period.
 */
final class IdleHeap implements SteppedTask {
  private static final long LOOK_NANOS = TimeUnit.SECONDS.toNanos(15);

  /**
   * More bytes allocated between two checks mean busy. An idle agent allocates far less, its start
   * far more.
   */
  private static final long BUSY_BYTES = 8 << 20;

  /** A heap of at most this size is not collected. */
  private static final long SMALL_BYTES = 16 << 20;

  private final LongSupplier allocatedBytes;
  private final LongSupplier heapBytes;
  private final Runnable collection;
  private long allocatedAtLastLook;
  private boolean wasBusy = true;

  /**
   * @param allocatedBytes bytes allocated by all threads since the start
   * @param heapBytes committed bytes of the heap
   */
  IdleHeap(LongSupplier allocatedBytes, LongSupplier heapBytes, Runnable collection) {
    this.allocatedBytes = allocatedBytes;
    this.heapBytes = heapBytes;
    this.collection = collection;
  }

  /** Starts to observe the heap of this JVM, until the JVM ends. */
  static void watch(Clocks clocks) {
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    IdleHeap heap =
        new IdleHeap(
            threads::getTotalThreadAllocatedBytes,
            () -> ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getCommitted(),
            System::gc);
    SteppedThread.daemon(clocks, "idle-heap", heap, new LogThrottle(clocks.nanoClock())).start();
  }

  /** Collects if a busy period has just ended and the heap is large. */
  @Override
  public long doWork() {
    long allocated = allocatedBytes.getAsLong();
    boolean busy = allocated - allocatedAtLastLook > BUSY_BYTES;
    allocatedAtLastLook = allocated;
    if (!busy && wasBusy && heapBytes.getAsLong() > SMALL_BYTES) {
      collection.run();
    }
    wasBusy = busy;
    return LOOK_NANOS;
  }
}
