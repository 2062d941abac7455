package org.traceetl.proto;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.Objects;

/**
 * Reads the head of a bundle: one message with several complete batches of one queue. Each batch
 * keeps its own name, so a batch that is sent again may be in another bundle, or alone. Reusable;
 * allocates nothing. Not thread-safe.
 *
 * <p>Layout, big-endian:
 *
 * <pre>
 *  0  magic         4 bytes  00 'T' 'E' 'B'
 *  4  version       1 byte   1
 *  5  parts         2 bytes  their number, 1 to {@value #MAX_PARTS}, then for each:
 *     length        2 bytes  of the application
 *     application   UTF-8    of the batch; may be empty
 *     spans         4 bytes  of the batch, 0 to 65,536
 *     length        4 bytes  of the batch
 *     batches                in the order of the parts, up to the end
 * </pre>
 *
 * The first byte of a batch, or of a single span that has a field, differs from 00. The head
 * repeats the application and the number of spans of each batch, so that tools can skip batches and
 * servers can book rejected bundles. Readers do not compare it with the batches.
 */
public final class BundleReader {
  /** Most batches in a bundle. */
  public static final int MAX_PARTS = 256;

  static final int MAGIC = 0x00544542;
  static final int VERSION = 1;

  /** Bytes before the first part. */
  static final int HEADER_BYTES = Integer.BYTES + 1 + Short.BYTES;

  /** Bytes of a part in the head, except its application. */
  static final int PART_BYTES = Short.BYTES + 2 * Integer.BYTES;

  private static final VarHandle INT =
      MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.BIG_ENDIAN);
  private static final VarHandle SHORT =
      MethodHandles.byteArrayViewVarHandle(short[].class, ByteOrder.BIG_ENDIAN);

  private final int[] applications = new int[MAX_PARTS];
  private final int[] spans = new int[MAX_PARTS];
  private final int[] offsets = new int[MAX_PARTS];
  private final int[] lengths = new int[MAX_PARTS];
  private byte[] buffer = {};
  private int count;
  private int declaredSpans;

  /** Returns whether a message is a bundle, valid or not. */
  public static boolean begins(byte[] message, int offset, int length) {
    return length >= Integer.BYTES && (int) INT.get(message, offset) == MAGIC;
  }

  /**
   * Reads the head.
   *
   * @return {@link Rejection#NONE}, or why the bundle is rejected; then only {@link #declaredSpans}
   *     is valid
   * @throws IndexOutOfBoundsException if {@code [offset, offset + length)} is not inside the array
   */
  public Rejection wrap(byte[] message, int offset, int length) {
    Objects.checkFromIndexSize(offset, length, message.length);
    buffer = message;
    count = 0;
    declaredSpans = 0;
    if (length > Limits.MAX_MESSAGE_BYTES) {
      return Rejection.TOO_LARGE;
    }
    if (length < HEADER_BYTES) {
      return Rejection.TRUNCATED;
    }
    if (!begins(message, offset, length)) {
      return Rejection.MALFORMED;
    }
    if (message[offset + Integer.BYTES] != VERSION) {
      return Rejection.UNSUPPORTED_VERSION;
    }
    int parts = unsignedShort(offset + Integer.BYTES + 1);
    if (parts < 1 || parts > MAX_PARTS) {
      return Rejection.BAD_LENGTH;
    }
    Rejection rejection = readParts(parts, offset + HEADER_BYTES, offset + length);
    count = rejection == Rejection.NONE ? parts : 0;
    return rejection;
  }

  private Rejection readParts(int parts, int start, int end) {
    int at = start;
    for (int part = 0; part < parts; part++) {
      if (end - at < Short.BYTES) {
        return Rejection.TRUNCATED;
      }
      applications[part] = at;
      int application = unsignedShort(at);
      if (end - at < application + PART_BYTES) {
        return Rejection.TRUNCATED;
      }
      at += Short.BYTES + application;
      spans[part] = (int) INT.get(buffer, at);
      lengths[part] = (int) INT.get(buffer, at + Integer.BYTES);
      at += 2 * Integer.BYTES;
      if (spans[part] < 0 || spans[part] > Limits.MAX_SPANS || lengths[part] < 0) {
        return Rejection.BAD_LENGTH;
      }
      declaredSpans += spans[part];
    }
    for (int part = 0; part < parts; part++) {
      if (lengths[part] > end - at) {
        return Rejection.TRUNCATED;
      }
      offsets[part] = at;
      at += lengths[part];
    }
    return at == end ? Rejection.NONE : Rejection.MALFORMED;
  }

  private int unsignedShort(int at) {
    return Short.toUnsignedInt((short) SHORT.get(buffer, at));
  }

  /** Returns the number of spans of all parts; of a rejected bundle, those of the parts read. */
  public int declaredSpans() {
    return declaredSpans;
  }

  /** Returns the number of batches; 0 if the bundle is rejected. */
  public int count() {
    return count;
  }

  /** Returns where the batch begins in the message's array. */
  public int offset(int part) {
    return offsets[Objects.checkIndex(part, count)];
  }

  /** Returns the bytes of the batch. */
  public int length(int part) {
    return lengths[Objects.checkIndex(part, count)];
  }

  /** Returns the number of spans of the batch, as the head has it. */
  public int spans(int part) {
    return spans[Objects.checkIndex(part, count)];
  }

  /** Returns the application of the batch, as the head has it. Allocates. */
  public String application(int part) {
    int at = applications[Objects.checkIndex(part, count)];
    return new String(buffer, at + Short.BYTES, unsignedShort(at), UTF_8);
  }
}
