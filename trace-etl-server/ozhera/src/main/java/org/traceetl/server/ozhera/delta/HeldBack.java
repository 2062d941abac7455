package org.traceetl.server.ozhera.delta;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;

/**
 * Passes bytes on, but for the last ones: they wait until it is known that the answer may end. One
 * thread at a time.
 */
final class HeldBack extends OutputStream {
  private static final int HELD_BYTES = 64 * 1024;

  private final OutputStream out;
  private final ByteArrayOutputStream held = new ByteArrayOutputStream(HELD_BYTES);
  private boolean passed;

  HeldBack(OutputStream out) {
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

  /** Whether bytes were passed on; if not, all of the answer waits. */
  boolean hasPassed() {
    return passed;
  }

  /** Bytes that wait. */
  int size() {
    return held.size();
  }

  /** Passes on what waits. */
  void end() throws IOException {
    pass();
    out.flush();
  }
}
