package org.traceetl.agent.pipeline;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.Arrays;
import org.traceetl.agent.detail.DemandedDetail;
import org.traceetl.agent.edge.DimensionValues;
import org.traceetl.agent.edge.EdgeAttributes;
import org.traceetl.agent.filter.ApplicationFilters;
import org.traceetl.agent.flow.Attributes;
import org.traceetl.agent.flow.KeySet;
import org.traceetl.agent.route.Route;
import org.traceetl.agent.route.RouteHash;
import org.traceetl.proto.SpanBatchWriter;

/**
 * A resource, identified by its attributes, with its open batches. Confined to the pipeline thread.
 *
 * <p>The attributes are one array: for each the length of the key (4 bytes, big-endian), the key,
 * the length of the value, the value. Resources are equal if these bytes are equal. The filtered
 * attributes are sent, and determine the route.
 */
final class RoutedResource {
  private static final byte[] SERVICE_NAME = "service.name".getBytes(UTF_8);
  private static final byte[] SERVICE_NAMESPACE = "service.namespace".getBytes(UTF_8);
  private static final byte[] UNKNOWN_SERVICE = "unknown_service".getBytes(UTF_8);

  private byte[] content;
  private int length;
  private long hash;
  // The application's name within the content; -1 if it has none.
  private int nameOffset;
  private int nameLength;
  // The namespace within the content; its length is 0 without one.
  private int namespaceOffset;
  private int namespaceLength;
  private Route route;
  private ApplicationFilters filters;
  private DemandedDetail detail;
  // What its half-edges need; null if none is sent.
  private EdgeAttributes edges;
  // The values that its half-edges have, if their span has none.
  private DimensionValues dimensions = DimensionValues.NONE;
  // Null if all attributes must be read at once.
  private KeySet firstKeys;
  // The filtered resource: usually itself; null if too large.
  private RoutedResource sent = this;
  private OpenBatch[] open;
  // For KnownGroups, which explains them.
  private long groupSeed;
  private int groupMisses;
  // The end of the first span that waited, in its open batches; negative for none.
  private long firstEndNanos = -1;

  /** Creates a mutable key for look-ups, which {@link #set} fills. */
  RoutedResource() {
    content = new byte[1024];
  }

  private RoutedResource(RoutedResource other) {
    content = Arrays.copyOf(other.content, other.length);
    length = other.length;
    hash = other.hash;
    nameOffset = other.nameOffset;
    nameLength = other.nameLength;
    namespaceOffset = other.namespaceOffset;
    namespaceLength = other.namespaceLength;
  }

  /**
   * Returns a copy with a route.
   *
   * @param route null if its spans are dropped
   * @param filters the application's filters; null for none
   * @param detail what servers demand of the application; null if all its spans are sent whole
   * @param edges what the half-edges of its spans need; null if none is sent
   * @param firstKeys span attribute keys to read first; null if all must be read at once
   * @param sent the filtered resource
   */
  RoutedResource routed(
      Route route,
      ApplicationFilters filters,
      DemandedDetail detail,
      EdgeAttributes edges,
      KeySet firstKeys,
      RoutedResource sent) {
    RoutedResource routed = new RoutedResource(this);
    routed.route = route;
    routed.filters = filters;
    routed.detail = detail;
    routed.edges = edges;
    routed.firstKeys = firstKeys;
    routed.sent = sent.equals(this) ? routed : new RoutedResource(sent);
    if (edges != null) {
      routed.dimensions = routed.sent.values(edges);
    }
    routed.open = new OpenBatch[route == null ? 0 : route.size()];
    return routed;
  }

  /** Returns the values of the dimensions of half-edges. */
  private DimensionValues values(EdgeAttributes keys) {
    if (keys.dimensions() == 0) {
      return DimensionValues.NONE;
    }
    DimensionValues values = new DimensionValues(keys.dimensions());
    int at = 0;
    while (at < length) {
      int keyLength = readLength(at);
      int dimension = keys.find(content, at + 4, keyLength);
      at += 4 + keyLength;
      int valueLength = readLength(at);
      if (dimension >= 0) {
        values.set(dimension, content, at + 4, valueLength);
      }
      at += 4 + valueLength;
    }
    return values;
  }

  /** Returns a copy that is marked as too large to be sent. */
  RoutedResource tooLarge(ApplicationFilters filters) {
    RoutedResource tooLarge = new RoutedResource(this);
    tooLarge.filters = filters;
    tooLarge.sent = null;
    tooLarge.open = new OpenBatch[0];
    return tooLarge;
  }

  void set(Attributes attributes) {
    length = 0;
    nameOffset = -1;
    for (int i = 0; i < attributes.size(); i++) {
      append(attributes.key(i), attributes.keyOffset(i), attributes.keyLength(i));
      append(attributes.value(i), attributes.valueOffset(i), attributes.valueLength(i));
    }
    int name = attributes.find(SERVICE_NAME);
    if (name >= 0 && attributes.valueLength(name) > 0) {
      nameLength = attributes.valueLength(name);
      nameOffset = valueOffset(attributes, name);
    }
    int namespace = attributes.find(SERVICE_NAMESPACE);
    namespaceLength = namespace < 0 ? 0 : attributes.valueLength(namespace);
    namespaceOffset = namespace < 0 ? 0 : valueOffset(attributes, namespace);
    hash = RouteHash.bytes(content, 0, length, 0);
  }

  /** Returns where the content has the value of an attribute. */
  private static int valueOffset(Attributes attributes, int attribute) {
    int offset = 4;
    for (int i = 0; i < attribute; i++) {
      offset += 8 + attributes.keyLength(i) + attributes.valueLength(i);
    }
    return offset + attributes.keyLength(attribute) + 4;
  }

  private void append(byte[] bytes, int offset, int count) {
    if (content.length - length < 4 + count) {
      content = Arrays.copyOf(content, Math.max(2 * content.length, length + 4 + count));
    }
    content[length++] = (byte) (count >>> 24);
    content[length++] = (byte) (count >>> 16);
    content[length++] = (byte) (count >>> 8);
    content[length++] = (byte) count;
    System.arraycopy(bytes, offset, content, length, count);
    length += count;
  }

  private int readLength(int at) {
    return content[at] << 24
        | (content[at + 1] & 0xff) << 16
        | (content[at + 2] & 0xff) << 8
        | (content[at + 3] & 0xff);
  }

  void writeTo(SpanBatchWriter writer) {
    sent.write(writer);
  }

  private void write(SpanBatchWriter writer) {
    writer.application(writer.intern(applicationBytes(), applicationOffset(), applicationLength()));
    int at = 0;
    while (at < length) {
      int keyLength = readLength(at);
      int key = writer.intern(content, at + 4, keyLength);
      at += 4 + keyLength;
      int valueLength = readLength(at);
      writer.resourceAttribute(key, writer.intern(content, at + 4, valueLength));
      at += 4 + valueLength;
    }
  }

  byte[] applicationBytes() {
    return nameOffset < 0 ? UNKNOWN_SERVICE : content;
  }

  int applicationOffset() {
    return Math.max(nameOffset, 0);
  }

  int applicationLength() {
    return nameOffset < 0 ? UNKNOWN_SERVICE.length : nameLength;
  }

  /** Returns the array with the namespace. */
  byte[] namespaceBytes() {
    return content;
  }

  int namespaceOffset() {
    return namespaceOffset;
  }

  /** Returns the bytes of the namespace; 0 if it has none. */
  int namespaceLength() {
    return namespaceLength;
  }

  /** Returns the filtered resource: itself, another one, or null if that is too large. */
  RoutedResource sent() {
    return sent;
  }

  int sizeBytes() {
    return sent == this || sent == null ? length : length + sent.length;
  }

  /** Returns whether filters made it too large to be sent. */
  boolean isTooLarge() {
    return sent == null;
  }

  /** Returns the application's filters; null for none. */
  ApplicationFilters filters() {
    return filters;
  }

  /** Returns what servers demand of the application; null if all its spans are sent whole. */
  DemandedDetail detail() {
    return detail;
  }

  /** Returns what the half-edges of its spans need; null if none is sent. */
  EdgeAttributes edges() {
    return edges;
  }

  /** Returns the values of the dimensions of its half-edges, as they are sent. Read-only. */
  DimensionValues dimensions() {
    return dimensions;
  }

  /** Returns the span attribute keys to read first; null if all must be read at once. */
  KeySet firstKeys() {
    return firstKeys;
  }

  /** Returns the route; null if its spans are dropped. */
  Route route() {
    return route;
  }

  /** Returns the number of queues its spans may go to. */
  int candidates() {
    return open.length;
  }

  /** Returns the open batch of a candidate queue, or null. */
  OpenBatch open(int candidate) {
    return open[candidate];
  }

  void setOpen(int candidate, OpenBatch batch) {
    open[candidate] = batch;
  }

  boolean hasOpen() {
    for (OpenBatch batch : open) {
      if (batch != null) {
        return true;
      }
    }
    return false;
  }

  /**
   * Returns the end of the first span that waited for the agent, since the resource had no open
   * batch, nanoseconds since 1970; negative for none.
   */
  long firstEndNanos() {
    return firstEndNanos;
  }

  void firstEndNanos(long unixNanos) {
    firstEndNanos = unixNanos;
  }

  /** Returns a number that no other resource and no earlier batches of this one have. */
  long groupSeed() {
    return groupSeed;
  }

  void groupSeed(long seed) {
    groupSeed = seed;
  }

  /** Returns the misses in {@link KnownGroups} that hits have not made up for. */
  int groupMisses() {
    return groupMisses;
  }

  void groupMisses(int misses) {
    groupMisses = misses;
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof RoutedResource that
        && hash == that.hash
        && Arrays.equals(content, 0, length, that.content, 0, that.length);
  }

  @Override
  public int hashCode() {
    return Long.hashCode(hash);
  }
}
