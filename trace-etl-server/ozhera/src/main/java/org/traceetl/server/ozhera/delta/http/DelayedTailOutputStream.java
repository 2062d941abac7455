package org.traceetl.server.ozhera.delta.http;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;

/**
 * Writes bytes through, except the last ones: these wait for the permission to end the answer. Not
 * thread-safe.
 */
final class DelayedTailOutputStream extends OutputStream {
  private static final int HELD_BYTES = 64 * 1024;

  private final OutputStream out;
  private final ByteArrayOutputStream held = new ByteArrayOutputStream(HELD_BYTES);
  private boolean passed;

  DelayedTailOutputStream(OutputStream out) {
    this.out = out;
  }

  @Override
  public void write(int b) throws IOException {
    write(new byte[] {(byte) b}, 0, 1);
  }

  @Override
  public void write(byte[] bytes, int from, int length) throws IOException {
    if (held.size() + length > HELD_BYTES) {
      pass();
    }
    held.write(bytes, from, length);
  }

  private void pass() throws IOException {
    if (held.size() > 0) {
      passed = true;
      held.writeTo(out);
      held.reset();
    }
  }

  /** Returns whether bytes were written through; if not, the whole answer waits. */
  boolean hasPassed() {
    return passed;
  }

  /** Returns the number of bytes that wait. */
  int size() {
    return held.size();
  }

  /** Writes the last bytes through. */
  void end() throws IOException {
    pass();
    out.flush();
  }
}
