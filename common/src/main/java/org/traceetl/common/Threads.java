package org.traceetl.common;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** How a program creates its threads, and how these wait. Simulations replace it. */
public interface Threads {
  /** The threads of the machine. */
  Threads SYSTEM =
      new Threads() {
        @Override
        public Thread create(Kind kind, String name, Runnable work) {
          Thread.Builder builder =
              switch (kind) {
                case PLATFORM -> Thread.ofPlatform();
                case DAEMON, BACKGROUND -> Thread.ofPlatform().daemon();
                case VIRTUAL -> Thread.ofVirtual();
              };
          return builder
              .name(name)
              .unstarted(kind == Kind.BACKGROUND ? Niceness.raisedIn(work) : work);
        }

        @Override
        public void park(Object blocker, long nanos) {
          LockSupport.parkNanos(blocker, nanos);
        }

        @Override
        public boolean join(Thread thread, Duration atMost) throws InterruptedException {
          return thread.join(atMost);
        }

        @Override
        public boolean await(CountDownLatch latch, Duration atMost) throws InterruptedException {
          return latch.await(TimeUnit.NANOSECONDS.convert(atMost), TimeUnit.NANOSECONDS);
        }
      };

  /** A kind of thread. */
  enum Kind {
    /** The program does not end before the thread. */
    PLATFORM,
    DAEMON,

    /**
     * A daemon that leaves the cores to threads of other kinds while these do not wait, on Linux.
     * Platform threads that it starts do the same, so it must not start or wake virtual threads:
     * the carrier of all virtual threads may be one that it starts.
     */
    BACKGROUND,
    VIRTUAL
  }

  /** Creates a thread that is not started. */
  Thread create(Kind kind, String name, Runnable work);

  /** Parks the current thread until it is unparked or the time has passed. */
  void park(Object blocker, long nanos);

  /** Waits for the end of a started thread; returns whether it has ended. */
  boolean join(Thread thread, Duration atMost) throws InterruptedException;

  /** Waits for a latch; returns whether it is open. */
  boolean await(CountDownLatch latch, Duration atMost) throws InterruptedException;
}
