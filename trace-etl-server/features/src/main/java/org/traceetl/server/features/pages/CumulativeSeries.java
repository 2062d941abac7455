package org.traceetl.server.features.pages;

import com.google.common.hash.Hashing;
import java.util.Arrays;
import java.util.List;
import org.traceetl.server.expose.Family;
import org.traceetl.server.expose.Format;
import org.traceetl.server.expose.Naming;
import org.traceetl.server.expose.Section;
import org.traceetl.server.journal.QueueImage;
import org.traceetl.server.window.QueueId;
import org.traceetl.server.window.ReceivedSpans;
import org.traceetl.server.window.SealedWindow;
import org.traceetl.server.window.SeriesDefinition;

/**
 * The cumulative series of one queue, in blocks by series number. Confined to the fold thread.
 *
 * <p>Blocks appear and disappear with their series. So nothing large is copied, and a high number
 * needs no memory for the numbers below it.
 */
final class CumulativeSeries {
  private static final int INITIAL_BLOCKS = 4;

  /** Of a native histogram with a hundred buckets, in text. */
  private static final int USUAL_NATIVE_BYTES = 512;

  /** Odd, so that distinct bits stay distinct. */
  private static final long SPREAD = 0x9E37_79B9_7F4A_7C15L;

  private final QueueId queue;

  /**
   * Part of the first block in {@link FamilySections#part}. Specified by {@link String#hashCode}
   * and the journal's series numbers, so the next owner has each series in the same shard.
   */
  private final int firstPart;

  private final Naming naming;
  private final LongSet labelSets;

  /** By format. */
  private final SeriesForm[] forms;

  private final SeriesText text;

  /** By series number / {@link SeriesBlock#SERIES}; null without series. */
  private SeriesBlock[] blocks = new SeriesBlock[INITIAL_BLOCKS];

  private int size;
  private long labelBytes;

  /** Null if pages do not show them. */
  private final ReceivedSpans received;

  /** Sections of {@link #received} by format; null if they must be rendered. */
  private final Section[] receivedSections;

  /**
   * @param labelSets hashes of the labels of all series on the page, shared by all queues
   */
  CumulativeSeries(QueueId queue, Naming naming, LongSet labelSets) {
    this.queue = queue;
    firstPart = queue.toString().hashCode();
    this.naming = naming;
    this.labelSets = labelSets;
    received = naming.received() == null ? null : new ReceivedSpans();
    text = new SeriesText(naming, Format.OPENMETRICS);
    List<Format> formats = Format.of(naming.hasUtf8Names());
    receivedSections = new Section[formats.size()];
    forms = formats.stream().map(format -> form(naming, format)).toArray(SeriesForm[]::new);
  }

  private static SeriesForm form(Naming naming, Format format) {
    if (format.isProtobuf()) {
      return new SeriesProtobuf(naming, format);
    }
    return format.isOpenMetrics2()
        ? new SeriesOpenMetrics2(naming, format)
        : new SeriesText(naming, format);
  }

  int size() {
    return size;
  }

  /** Returns the approximate size of the sections in text. */
  long textBytes() {
    boolean hasNative =
        naming.families().stream().anyMatch(family -> family.nativeBuckets() != null);
    long natives = hasNative ? (long) size * USUAL_NATIVE_BYTES : 0;
    return text.lines() * (labelBytes + (long) size * text.lineBytes()) + natives;
  }

  /**
   * Adds a window.
   *
   * @return the rows without a series; 0 if windows arrive in order
   */
  int fold(SealedWindow window) {
    if (received != null) {
      received.add(window);
      Arrays.fill(receivedSections, null);
    }
    window.created().forEach(this::create);
    int unknown = 0;
    for (int row = 0; row < window.rows(); row++) {
      int series = window.series()[row];
      SeriesBlock block = block(series);
      if (block == null) {
        unknown++;
      } else {
        block.add(place(series), window, row);
      }
    }
    for (int series : window.evicted()) {
      evict(series);
    }
    return unknown;
  }

  /** Continues the series of another process. The image is read during this call only. */
  void restore(QueueImage image) {
    if (received != null && image.received() != null) {
      received.set(image.received());
    }
    for (int series = 0; series < image.slots(); series++) {
      SeriesDefinition definition = image.definition(series);
      if (definition != null) {
        create(definition);
        block(series).restore(place(series), image, series);
      }
    }
  }

  /** Removes all series. */
  void release() {
    for (SeriesBlock block : blocks) {
      for (int place = 0; block != null && place < SeriesBlock.SERIES; place++) {
        if (block.labels(place) != null) {
          labelSets.remove(hash(block.labels(place), block.familyBits(place)));
        }
      }
    }
    blocks = new SeriesBlock[INITIAL_BLOCKS];
    size = 0;
    labelBytes = 0;
  }

  private void create(SeriesDefinition definition) {
    int series = definition.series();
    evict(series);
    int number = series / SeriesBlock.SERIES;
    if (number >= blocks.length) {
      blocks = Arrays.copyOf(blocks, Math.max(number + 1, blocks.length + blocks.length / 2));
    }
    if (blocks[number] == null) {
      blocks[number] = new SeriesBlock(naming.stride(), naming.buckets(), forms.length);
    }
    long familyBits = naming.families(definition);
    byte[] labels = label(definition, familyBits);
    blocks[number].create(place(series), labels, definition.createdMillis(), familyBits);
    size++;
    labelBytes += labels.length;
  }

  /**
   * Sets the labels of a series. Prometheus keeps only the first of two series with equal labels on
   * a page, and a sum of both would look like a counter reset when one queue leaves. So the later
   * series also gets its queue as a label, and if necessary its number.
   */
  private byte[] label(SeriesDefinition definition, long familyBits) {
    String queueLabel = naming.queueLabel(queue, definition);
    while (true) {
      byte[] candidate = naming.labels(definition, queueLabel);
      if (labelSets.add(hash(candidate, familyBits))) {
        return candidate;
      }
      queueLabel = queueLabel == null ? queue.toString() : queueLabel + "/" + definition.series();
    }
  }

  private void evict(int series) {
    SeriesBlock block = block(series);
    if (block == null) {
      return;
    }
    byte[] labels = block.labels(place(series));
    size--;
    labelBytes -= labels.length;
    labelSets.remove(hash(labels, block.familyBits(place(series))));
    block.evict(place(series));
    if (block.size() == 0) {
      blocks[series / SeriesBlock.SERIES] = null;
    }
  }

  /** Returns the block of a series; null if the series does not exist. */
  private SeriesBlock block(int series) {
    int number = series / SeriesBlock.SERIES;
    SeriesBlock block = number < blocks.length ? blocks[number] : null;
    return block == null || block.labels(place(series)) == null ? null : block;
  }

  private static int place(int series) {
    return series % SeriesBlock.SERIES;
  }

  /**
   * Returns the hash of labels and families: equal labels in other families are another series. Two
   * series that share one family share all families, or differ in a label.
   */
  private static long hash(byte[] labels, long familyBits) {
    return Hashing.farmHashFingerprint64().hashBytes(labels).asLong() ^ familyBits * SPREAD;
  }

  /** Appends the sections of a family, rendering missing ones in the requested forms. */
  void sections(
      Family family,
      Format format,
      boolean wantPlain,
      boolean wantGzip,
      SectionWriter writer,
      FamilySections to) {
    if (family == naming.received()) {
      addReceived(family, format, wantPlain, wantGzip, writer, to);
      return;
    }
    for (int number = 0; number < blocks.length; number++) {
      SeriesBlock block = blocks[number];
      if (block != null) {
        to.part(firstPart + number);
        block.sections(family, format, wantPlain, wantGzip, forms[format.ordinal()], writer, to);
      }
    }
  }

  private void addReceived(
      Family family,
      Format format,
      boolean wantPlain,
      boolean wantGzip,
      SectionWriter writer,
      FamilySections to) {
    Section section = receivedSections[format.ordinal()];
    if (section == null || !section.has(wantPlain, wantGzip)) {
      writer.begin(wantPlain, wantGzip);
      SeriesForm form = forms[format.ordinal()];
      String queueLabel = naming.queueLabel(queue, true);
      received.forEach(one ->
          form.write(
              family,
              naming.labels(one.application(), queueLabel),
              one.spans(),
              one.createdMillis(),
              writer));
      section = writer.finish();
    }
    section = section.only(wantPlain, wantGzip);
    receivedSections[format.ordinal()] = section;
    to.part(firstPart);
    to.add(section);
  }

  /** Drops the sections of a format that is no longer requested. */
  void forget(Format format) {
    receivedSections[format.ordinal()] = null;
    for (SeriesBlock block : blocks) {
      if (block != null) {
        block.forget(format);
      }
    }
  }
}
