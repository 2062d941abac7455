package org.traceetl.server.decode;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import org.traceetl.proto.Rejection;
import org.traceetl.proto.SpanBatchReader;
import org.traceetl.server.series.Utf8;

/**
 * Decodes one batch at a time into columns. A batch is read to its end before anything of it can
 * count, so a malformed one loses itself whole and nothing else.
 *
 * <p>Which attributes are dimensions is found out once for each dictionary entry that is used as a
 * key, not for each span. Nothing is allocated once the arrays have grown to the largest batch. One
 * owner thread.
 */
public final class BatchDecoder {
  /** Dictionary entry that was not looked up as a key yet. */
  private static final int NOT_LOOKED_UP = -2;

  private final DimensionKeys dimensions;
  private final SpanBatchReader reader = new SpanBatchReader();
  private final SpanColumns columns;
  private final int[] inherited;

  /** By dictionary index: the dimension that the entry is the key of. */
  private int[] dimensionOf = new int[256];

  public BatchDecoder(DimensionKeys dimensions) {
    this.dimensions = dimensions;
    columns = new SpanColumns(dimensions.count());
    inherited = new int[dimensions.count()];
  }

  /**
   * Decodes a message.
   *
   * @return {@link Rejection#NONE}, or why the batch is refused; then only {@link #batch} tells
   *     something, and no more than the declared number of spans, and the application if it is at
   *     least 0
   */
  public Rejection decode(byte[] message, int offset, int length) {
    columns.clear();
    Rejection rejection = reader.wrap(message, offset, length);
    if (rejection != Rejection.NONE) {
      return rejection;
    }
    int entries = reader.dictionarySize();
    if (dimensionOf.length < entries) {
      dimensionOf = new int[Math.max(entries, dimensionOf.length * 2)];
    }
    Arrays.fill(dimensionOf, 0, entries, NOT_LOOKED_UP);
    inherit();
    boolean hasDimensions = dimensions.count() > 0;
    while (reader.next()) {
      columns.add(reader, inherited);
      if (hasDimensions) {
        addDimensions();
      }
    }
    while (reader.nextGroup()) {
      columns.addGroup(reader, inherited);
      if (hasDimensions) {
        addDimensions();
      }
    }
    return reader.rejection();
  }

  private void inherit() {
    Arrays.fill(inherited, SpanColumns.NONE);
    for (int i = 0; i < reader.resourceAttributeCount(); i++) {
      int dimension = find(dimensions.ofResource(), reader.resourceAttributeKey(i));
      if (dimension != AttributeKeys.NONE) {
        inherited[dimension] = reader.resourceAttributeValue(i);
      }
    }
  }

  private void addDimensions() {
    int[] attributes = reader.attributes();
    int ints = reader.attributeCount() * 2;
    for (int i = 0; i < ints; i += 2) {
      int key = attributes[i];
      int dimension = dimensionOf[key];
      if (dimension == NOT_LOOKED_UP) {
        dimension = find(dimensions.ofSpan(), key);
        dimensionOf[key] = dimension;
      }
      if (dimension != AttributeKeys.NONE) {
        columns.setDimension(dimension, attributes[i + 1]);
      }
    }
  }

  private int find(AttributeKeys keys, int entry) {
    return keys.find(
        reader.buffer(), reader.dictionaryOffset(entry), reader.dictionaryLength(entry));
  }

  /** The batch's own fields: its name, application and dictionary. Not to be moved. */
  public SpanBatchReader batch() {
    return reader;
  }

  /** The batch's spans and groups. */
  public SpanColumns columns() {
    return columns;
  }

  /** Text of a dictionary entry, cut to so many bytes. Allocates: for documents. */
  public String text(int entry, int maxBytes) {
    int offset = reader.dictionaryOffset(entry);
    int length = Utf8.cut(reader.buffer(), offset, reader.dictionaryLength(entry), maxBytes);
    return new String(reader.buffer(), offset, length, UTF_8);
  }

  /**
   * Those of the keys that the span or its resource has, values cut to so many bytes; the span's go
   * first. Allocates: for documents.
   */
  public Map<String, String> attributes(AttributeKeys keys, int span, int maxBytes) {
    Map<String, String> found = new HashMap<>();
    for (int i = 0; i < columns.attributeCount(span); i++) {
      int number = find(keys, columns.attributeKey(span, i));
      if (number != AttributeKeys.NONE) {
        found.put(keys.key(number), text(columns.attributeValue(span, i), maxBytes));
      }
    }
    for (int i = 0; i < reader.resourceAttributeCount(); i++) {
      int number = find(keys, reader.resourceAttributeKey(i));
      if (number != AttributeKeys.NONE) {
        found.putIfAbsent(keys.key(number), text(reader.resourceAttributeValue(i), maxBytes));
      }
    }
    return Map.copyOf(found);
  }
}
