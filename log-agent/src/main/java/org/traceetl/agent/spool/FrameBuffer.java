package org.traceetl.agent.spool;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.nio.ByteBuffer;
import java.util.Arrays;

/** A growing, reusable buffer for big-endian content. */
final class FrameBuffer {
  private byte[] bytes = new byte[4_096];
  private ByteBuffer view = ByteBuffer.wrap(bytes);

  void clear() {
    view.clear();
  }

  byte[] array() {
    return bytes;
  }

  int length() {
    return view.position();
  }

  FrameBuffer putByte(int value) {
    ensure(1);
    view.put((byte) value);
    return this;
  }

  FrameBuffer putInt(int value) {
    ensure(Integer.BYTES);
    view.putInt(value);
    return this;
  }

  FrameBuffer putLong(long value) {
    ensure(Long.BYTES);
    view.putLong(value);
    return this;
  }

  /** Appends a text, preceded by its length in bytes. */
  FrameBuffer putText(String text) {
    byte[] encoded = text.getBytes(UTF_8);
    ensure(Integer.BYTES + encoded.length);
    view.putInt(encoded.length).put(encoded);
    return this;
  }

  static String getText(ByteBuffer from) {
    int length = from.getInt();
    if (length < 0 || length > from.remaining()) {
      throw new IllegalArgumentException("a text of " + length + " bytes");
    }
    String text = new String(from.array(), from.arrayOffset() + from.position(), length, UTF_8);
    from.position(from.position() + length);
    return text;
  }

  private void ensure(int more) {
    if (view.remaining() < more) {
      int used = view.position();
      bytes = Arrays.copyOf(bytes, Math.max(2 * bytes.length, used + more));
      view = ByteBuffer.wrap(bytes).position(used);
    }
  }
}
