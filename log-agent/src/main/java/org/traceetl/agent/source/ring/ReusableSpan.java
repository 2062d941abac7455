package org.traceetl.agent.source.ring;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import org.traceetl.agent.flow.Attributes;
import org.traceetl.agent.flow.KeySet;
import org.traceetl.agent.flow.SpanView;
import org.traceetl.proto.ring.RingSpanReader;

/**
 * A span's view, and the bytes from which its first attributes were decoded. Spans of an operation
 * have most attributes in common: an attribute with the same bytes as in the last span keeps its
 * decoded entry. Valid for one dictionary, until {@link #forget}.
 */
final class ReusableSpan {
  private static final VarHandle LONG =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

  private static final byte[] EMPTY = new byte[0];

  /** The entry of an attribute that is not needed. */
  private static final int NONE = -1;

  /** Most attributes remembered, from the first on. */
  private static final int REMEMBERED = 32;

  final SpanView view = new SpanView();

  // By attribute of the last spans, needed or not.
  private final long[] bits = new long[REMEMBERED];
  private final long[] masks = new long[REMEMBERED];
  private final int[] lengths = new int[REMEMBERED];
  private final int[] texts = new int[REMEMBERED];
  private final int[] entries = new int[REMEMBERED];

  // By entry: the attribute that was added there last.
  private final int[] owners = new int[REMEMBERED];

  // Of which nothing is remembered.
  private KeySet additional;

  // The current span.
  private int attribute;
  private int known;

  /**
   * Starts a span. Remembered attributes remain if the additional keys are the same.
   *
   * @param additionalKeys keys of attributes that are read in addition to the wanted ones; null for
   *     none
   */
  void begin(KeySet additionalKeys) {
    if (additional != additionalKeys) {
      additional = additionalKeys;
      known = 0;
    }
    view.attributes.clear();
    view.additional.clear();
    view.attributesNotWanted = 0;
    view.textNotWanted = 0;
    view.events.clear();
    view.eventsLeftOut = 0;
    view.links.clear();
    attribute = 0;
  }

  /** Skips attributes that are the same as in the last span, up to the first different one. */
  void repeat(byte[] bytes, RingSpanReader in) {
    int i = attribute;
    int at = in.position();
    int end = in.end();
    // Compares eight bytes, also if the attribute has fewer.
    int last = bytes.length - Long.BYTES;
    int most = (int) Math.min(known, i + in.attributesLeft());
    Attributes attributes = view.attributes;
    int entry = attributes.size();
    long text = attributes.textBytes();
    for (; i < most && at <= last; i++) {
      int length = lengths[i];
      long difference = ((long) LONG.get(bytes, at) ^ bits[i]) & masks[i];
      if (difference != 0 || length == 0 || length > end - at) {
        break;
      }
      if (entries[i] == entry && owners[entry] == i) {
        entry++;
        text += texts[i];
      } else if (entries[i] == NONE) {
        view.attributesNotWanted++;
        view.textNotWanted += texts[i];
      } else {
        break;
      }
      at += length;
    }
    if (i > attribute) {
      in.skip(at, i - attribute);
      attributes.keep(entry, text);
      attribute = i;
    }
  }

  /**
   * Remembers the attribute {@code bytes[from, to)}, which is the last one of the view.
   *
   * @param isFixed whether the decoded value depends only on its bytes and the dictionary
   */
  void added(byte[] bytes, int from, int to, boolean isFixed) {
    Attributes attributes = view.attributes;
    int entry = attributes.size() - 1;
    if (entry < REMEMBERED) {
      owners[entry] = attribute;
    }
    if (isFixed) {
      int text = attributes.keyLength(entry) + attributes.valueLength(entry);
      remember(bytes, from, to, entry, text);
    } else {
      leftOut();
    }
  }

  /**
   * Counts an attribute that is not needed, and remembers it.
   *
   * @param text bytes of its key and value, if they count; the same for equal bytes
   */
  void notWanted(byte[] bytes, int from, int to, int text) {
    view.attributesNotWanted++;
    view.textNotWanted += text;
    remember(bytes, from, to, NONE, text);
  }

  /** Counts an attribute that is read in addition to the wanted ones; remembers nothing of it. */
  void additional(int text) {
    view.attributesNotWanted++;
    view.textNotWanted += text;
    leftOut();
  }

  /** Remembers nothing of the attribute. */
  void leftOut() {
    if (attribute < REMEMBERED) {
      lengths[attribute] = 0;
      known = Math.max(known, attribute + 1);
    }
    attribute++;
  }

  private void remember(byte[] bytes, int from, int to, int entry, int text) {
    int length = to - from;
    int i = attribute;
    leftOut();
    if (i < REMEMBERED && length <= Long.BYTES && bytes.length - from >= Long.BYTES) {
      lengths[i] = length;
      bits[i] = (long) LONG.get(bytes, from);
      masks[i] = -1L >>> Long.SIZE - Byte.SIZE * length;
      texts[i] = text;
      entries[i] = entry;
    }
  }

  /** Releases the references to all arrays. */
  void forget() {
    known = 0;
    additional = null;
    view.attributes.forget();
    view.additional.forget();
    view.events.forget();
    view.dictionary = null;
    view.name = EMPTY;
    view.statusMessage = EMPTY;
  }
}
