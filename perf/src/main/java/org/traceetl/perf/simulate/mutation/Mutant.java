package org.traceetl.perf.simulate.mutation;

import java.io.IOException;
import java.nio.file.Path;

/** A faulty version of a class of the programs. */
interface Mutant {
  String number();

  /** Returns what is wrong in it, in a few words. */
  String name();

  /**
   * Writes its class files to a folder that is to precede the built classes.
   *
   * @throws IllegalStateException if it cannot be made from the current sources
   */
  void write(Path folder) throws IOException;
}
