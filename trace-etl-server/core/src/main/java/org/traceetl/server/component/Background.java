package org.traceetl.server.component;

/** Work on threads of its own. */
public interface Background extends AutoCloseable {
  /** Starts the threads. Call once. */
  void start();

  /** Returns whether no error has ended a thread. */
  boolean alive();

  /** Ends the threads. Idempotent. */
  @Override
  void close();
}
