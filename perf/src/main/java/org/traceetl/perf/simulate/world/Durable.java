package org.traceetl.perf.simulate.world;

import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;

/** A part of a world that outlasts all processes, and can be continued in another world. */
public interface Durable {
  /** Writes its content. */
  void write(DataOutputStream to) throws IOException;

  /**
   * Reads what {@link #write} wrote, before any process runs.
   *
   * @throws IOException also if this world lacks a place for it, such as a queue
   */
  void read(DataInputStream from) throws IOException;
}
