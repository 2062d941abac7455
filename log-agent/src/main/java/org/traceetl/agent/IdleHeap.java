package org.traceetl.agent;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.traceetl.common.DutyCycle;
import org.traceetl.common.DutyThread;

/**
 * Gives memory back when a rush is over, be it that of the start. The collector shrinks the heap
 * when it collects, and an agent with nothing to do would not fill it for hours; so it is told to,
 * once after each rush.
 */
final class IdleHeap implements DutyCycle {
  private static final long LOOK_NANOS = TimeUnit.SECONDS.toNanos(15);

  /** Allocated between two looks. An idle agent makes far less, and its start far more. */
  private static final long BUSY_BYTES = 8 << 20;

  /** A heap that is not larger is left alone. */
  private static final long SMALL_BYTES = 16 << 20;

  private final LongSupplier allocatedBytes;
  private final LongSupplier heapBytes;
  private final Runnable collection;
  private long allocatedAtLastLook;
  private boolean wasBusy = true;

  /**
   * @param allocatedBytes by all threads since the start
   * @param heapBytes taken from the system for the heap
   */
  IdleHeap(LongSupplier allocatedBytes, LongSupplier heapBytes, Runnable collection) {
    this.allocatedBytes = allocatedBytes;
    this.heapBytes = heapBytes;
    this.collection = collection;
  }

  /** Starts to observe the heap of this JVM, until the JVM ends. */
  static void watch(LongSupplier nanoClock) {
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    IdleHeap heap =
        new IdleHeap(
            threads::getTotalThreadAllocatedBytes,
            () -> ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getCommitted(),
            System::gc);
    new DutyThread(Thread.ofPlatform().daemon().name("idle-heap"), heap, nanoClock).start();
  }

  @Override
  public int doWork() {
    look();
    return 0;
  }

  @Override
  public long idleNanos() {
    return LOOK_NANOS;
  }

  /** Collects if this is the first quiet time after a busy one and there is much to give back. */
  void look() {
    long allocated = allocatedBytes.getAsLong();
    boolean busy = allocated - allocatedAtLastLook > BUSY_BYTES;
    allocatedAtLastLook = allocated;
    if (!busy && wasBusy && heapBytes.getAsLong() > SMALL_BYTES) {
      collection.run();
    }
    wasBusy = busy;
  }
}
