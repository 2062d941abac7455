package org.traceetl.server.decode;

import com.github.luben.zstd.Zstd;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.Arrays;
import java.util.zip.DataFormatException;
import java.util.zip.Inflater;
import net.jpountz.lz4.LZ4FrameInputStream;
import org.apache.rocketmq.common.sysflag.MessageSysFlag;
import org.traceetl.proto.Limits;
import org.traceetl.proto.Rejection;

/**
 * Decompresses the body of a message that a RocketMQ producer compressed. Its reused memory grows
 * to the largest body, at most {@link Limits#MAX_MESSAGE_BYTES}. RocketMQ's own client decompresses
 * without a limit, and drops the whole pull for one body that it cannot read. One owner thread.
 */
final class InflatedBody {
  private static final int FIRST_BYTES = 16 * 1024;

  /** A byte beyond the limit shows a longer body. */
  private static final int MAX_BYTES = Limits.MAX_MESSAGE_BYTES + 1;

  /** Bits of the system flags for the type of compression. */
  private static final int TYPE = MessageSysFlag.COMPRESSION_TYPE_COMPARATOR;

  private final Inflater zlib = new Inflater();
  private byte[] bytes = new byte[FIRST_BYTES];
  private int length;

  /**
   * Decompresses a body.
   *
   * @param flags the message's system flags, which identify the compression
   * @return {@link Rejection#NONE}, {@link Rejection#TOO_LARGE}, or {@link Rejection#MALFORMED} for
   *     an invalid body; for Zstandard also for a body that is too large
   */
  Rejection inflate(byte[] body, int flags) {
    length = 0;
    try {
      int type = flags & TYPE;
      // Producers before version 5 only support this type and do not set its flag.
      if (type == 0 || type == MessageSysFlag.COMPRESSION_ZLIB_TYPE) {
        return inflateZlib(body);
      }
      if (type == MessageSysFlag.COMPRESSION_LZ4_TYPE) {
        return readAll(new LZ4FrameInputStream(new ByteArrayInputStream(body)));
      }
      if (type == MessageSysFlag.COMPRESSION_ZSTD_TYPE) {
        return inflateZstandard(body);
      }
      return Rejection.MALFORMED;
    } catch (DataFormatException | IOException | RuntimeException | LinkageError e) {
      // The libraries of LZ4 and Zstandard throw runtime exceptions for damaged bodies. That of
      // Zstandard is native, and is not loaded if no folder may execute files.
      return Rejection.MALFORMED;
    }
  }

  private Rejection inflateZlib(byte[] body) throws DataFormatException {
    zlib.reset();
    zlib.setInput(body);
    while (!zlib.finished()) {
      if (!hasRoom()) {
        return Rejection.TOO_LARGE;
      }
      int inflated = zlib.inflate(bytes, length, bytes.length - length);
      if (inflated == 0 && !zlib.finished()) {
        return Rejection.MALFORMED;
      }
      length += inflated;
    }
    return length < MAX_BYTES ? Rejection.NONE : Rejection.TOO_LARGE;
  }

  /** Decompresses in one step, without memory for the window that a frame requests. */
  private Rejection inflateZstandard(byte[] body) {
    if (bytes.length < MAX_BYTES) {
      bytes = new byte[MAX_BYTES];
    }
    long result = Zstd.decompressByteArray(bytes, 0, MAX_BYTES, body, 0, body.length);
    if (Zstd.isError(result)) {
      return Zstd.getErrorCode(result) == Zstd.errDstSizeTooSmall()
          ? Rejection.TOO_LARGE
          : Rejection.MALFORMED;
    }
    length = (int) result;
    return length == MAX_BYTES ? Rejection.TOO_LARGE : Rejection.NONE;
  }

  private Rejection readAll(InputStream inflating) throws IOException {
    try (inflating) {
      while (hasRoom()) {
        int read = inflating.read(bytes, length, bytes.length - length);
        if (read < 0) {
          return Rejection.NONE;
        }
        length += read;
      }
      return Rejection.TOO_LARGE;
    }
  }

  /** Makes room if necessary; returns false at the limit. A byte beyond it shows a longer body. */
  private boolean hasRoom() {
    if (length == bytes.length) {
      bytes = Arrays.copyOf(bytes, Math.min(2 * length, MAX_BYTES));
    }
    return length < MAX_BYTES;
  }

  /** Returns an array with the body from 0 to {@link #length}, valid until the next body. */
  byte[] bytes() {
    return bytes;
  }

  int length() {
    return length;
  }
}
