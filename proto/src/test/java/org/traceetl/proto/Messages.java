package org.traceetl.proto;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.apache.thrift.TBase;
import org.apache.thrift.TEnum;
import org.apache.thrift.TException;
import org.apache.thrift.TFieldIdEnum;
import org.apache.thrift.TSerializer;
import org.apache.thrift.meta_data.FieldMetaData;
import org.apache.thrift.meta_data.FieldValueMetaData;
import org.apache.thrift.meta_data.ListMetaData;
import org.apache.thrift.meta_data.MapMetaData;
import org.apache.thrift.meta_data.SetMetaData;
import org.apache.thrift.protocol.TCompactProtocol;
import org.apache.thrift.protocol.TField;
import org.apache.thrift.protocol.TList;
import org.apache.thrift.protocol.TMap;
import org.apache.thrift.protocol.TProtocol;
import org.apache.thrift.protocol.TSet;
import org.apache.thrift.protocol.TStruct;
import org.apache.thrift.protocol.TType;
import org.apache.thrift.transport.TMemoryBuffer;
import org.traceetl.proto.thrift.EdgeGroup;
import org.traceetl.proto.thrift.Span;
import org.traceetl.proto.thrift.SpanBatch;
import org.traceetl.proto.thrift.SpanGroup;
import org.traceetl.proto.thrift.ozhera.TSpanData;

/** Carries batches between generated classes, the project's writer and reader, and bytes. */
final class Messages {
  static final short UNKNOWN = 3_001;

  /** The batch's fields as the writer orders them, then unknown ones. */
  private static final List<Short> FIELDS =
      shorts(1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 13, 10, 11, 14, 15, 16, 17, 18, 3000);

  private static final List<Short> SPAN_FIELDS = shorts(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 200);

  private Messages() {}

  /** The message as the project's writer makes it. */
  static byte[] written(SpanBatch batch, SpanBatchWriter writer) {
    writer.begin();
    List<ByteBuffer> dictionary = batch.getDictionary();
    for (int i = 0; i < dictionary.size(); i++) {
      byte[] bytes = bytes(dictionary.get(i));
      assertThat(writer.intern(bytes, 0, bytes.length)).isEqualTo(i);
    }
    writer.application(batch.getApplication());
    if (batch.isSetResource()) {
      List<Integer> resource = batch.getResource();
      for (int i = 0; i < resource.size(); i += 2) {
        writer.resourceAttribute(resource.get(i), resource.get(i + 1));
      }
    }
    writer.demand(batch.getDemand());
    if (batch.isSetGroup_keys()) {
      batch.getGroup_keys().forEach(writer::groupKey);
    }
    writer.sampleThreshold(batch.getSample_threshold());
    if (batch.isSetSizes()) {
      writer.keepSizes();
    }
    for (int i = 0; i < batch.getSpansSize(); i++) {
      startWhole(writer::startSpan, batch, batch.getSpans().get(i));
      if (batch.isSetSampled() && batch.getSampled().contains(i)) {
        writer.sampled();
      }
      if (batch.isSetSizes()) {
        writer.size(batch.getSizes().get(i));
      }
      endWhole(writer, batch.getSpans().get(i));
    }
    writeGroups(batch, writer);
    for (int i = 0; i < batch.getSamplesSize(); i++) {
      startWhole(writer::startSample, batch, batch.getSamples().get(i));
      endWhole(writer, batch.getSamples().get(i));
    }
    assertThat(writer.sampleCount()).isEqualTo(batch.getSamplesSize());
    assertThat(writer.spanCount()).isEqualTo(batch.getSpansSize() + Batches.grouped(batch));
    int bound = writer.sizeBytes();
    ByteBuffer agent = ByteBuffer.wrap(batch.getAgent());
    int length =
        writer.finish(agent.getLong(), agent.getLong(), batch.getEpoch(), batch.getSequence());
    assertThat(length).isLessThanOrEqualTo(bound);
    return Arrays.copyOf(writer.buffer(), length);
  }

  private interface Start {
    void span(
        long traceIdHigh,
        long traceIdLow,
        long spanId,
        long parentSpanId,
        int name,
        int kind,
        int status,
        long startUnixNanos,
        long durationNanos,
        long samplingThreshold);
  }

  private static void startWhole(Start start, SpanBatch batch, Span span) {
    ByteBuffer ids = ByteBuffer.wrap(span.getIds());
    start.span(
        ids.getLong(),
        ids.getLong(),
        ids.getLong(),
        ids.hasRemaining() ? ids.getLong() : 0,
        span.getName(),
        span.getKind(),
        span.getStatus(),
        batch.getBase_unix_nanos() + span.getStart_delta_nanos(),
        span.getDuration_nanos(),
        span.getSampling_threshold());
  }

  private static void endWhole(SpanBatchWriter writer, Span span) {
    for (int i = 0; i < span.getAttributesSize(); i += 2) {
      writer.attribute(span.getAttributes().get(i), span.getAttributes().get(i + 1));
    }
    if (span.isSetStatus_message()) {
      writer.statusMessage(span.getStatus_message());
    }
    writeEvents(span.isSetEvents() ? span.getEvents() : List.of(), writer);
    writer.endSpan();
  }

  /** Spans of the groups in turn: the first of each, the second of each, ... */
  private static void writeGroups(SpanBatch batch, SpanBatchWriter writer) {
    List<SpanGroup> groups = batch.isSetGroups() ? batch.getGroups() : List.of();
    boolean more = !groups.isEmpty();
    for (int round = 0; more; round++) {
      more = false;
      for (int g = 0; g < groups.size(); g++) {
        SpanGroup group = groups.get(g);
        if (round < group.getDurations_nanosSize()) {
          more = true;
          writer.startGroupedSpan(
              group.getName(),
              group.getKind(),
              group.getStatus(),
              group.getDurations_nanos().get(round),
              group.getSampling_threshold());
          for (int i = 0; i < group.getAttributesSize(); i += 2) {
            writer.attribute(group.getAttributes().get(i), group.getAttributes().get(i + 1));
          }
          writeEvents(group.isSetEvents() ? group.getEvents() : List.of(), writer);
          if (batch.isSetSizes()) {
            long sum = batch.getSizes().get(batch.getSpansSize() + g);
            writer.size(share(sum, round, group.getDurations_nanosSize()));
          }
          writer.endSpan();
        }
      }
    }
    assertThat(writer.groupCount()).isEqualTo(groups.size());
    assertThat(writer.groupedSpanCount()).isEqualTo(Batches.grouped(batch));
  }

  /** Returns the part of a sum that one of some spans has; the first has the rest too. */
  private static long share(long sum, int place, int spans) {
    return sum / spans + (place == 0 ? sum % spans : 0);
  }

  private static void writeEvents(List<Integer> events, SpanBatchWriter writer) {
    int at = 0;
    while (at < events.size()) {
      assertThat(writer.event(events.get(at))).isTrue();
      int end = at + 2 + 2 * events.get(at + 1);
      for (at += 2; at < end; at += 2) {
        writer.eventAttribute(events.get(at), events.get(at + 1));
      }
    }
  }

  /** The message as the project's reader reads it; it must be a good one. */
  static SpanBatch read(byte[] message, SpanBatchReader reader) {
    // Stands inside a larger array, as a message of a receive buffer may.
    byte[] buffer = new byte[message.length + 7];
    Arrays.fill(buffer, (byte) 0xff);
    System.arraycopy(message, 0, buffer, 3, message.length);
    assertThat(reader.wrap(buffer, 3, message.length)).isEqualTo(Rejection.NONE);

    SpanBatch batch = new SpanBatch();
    batch.setAgent(
        ByteBuffer.allocate(16).putLong(reader.agentHigh()).putLong(reader.agentLow()).flip());
    batch.setEpoch(reader.epoch());
    batch.setSequence(reader.sequence());
    batch.setSpan_count(reader.spanCount());
    List<ByteBuffer> dictionary = new ArrayList<>();
    for (int i = 0; i < reader.dictionarySize(); i++) {
      int start = reader.dictionaryOffset(i);
      dictionary.add(
          ByteBuffer.wrap(Arrays.copyOfRange(buffer, start, start + reader.dictionaryLength(i))));
    }
    batch.setDictionary(dictionary);
    batch.setApplication(reader.application());
    List<Integer> resource = new ArrayList<>();
    for (int i = 0; i < reader.resourceAttributeCount(); i++) {
      resource.add(reader.resourceAttributeKey(i));
      resource.add(reader.resourceAttributeValue(i));
    }
    batch.setResource(resource);
    if (reader.demand() != 0) {
      batch.setDemand(reader.demand());
      batch.setGroup_keys(new ArrayList<>());
    }
    for (int i = 0; i < reader.groupKeyCount(); i++) {
      batch.addToGroup_keys(reader.groupKey(i));
    }
    batch.setSpans(new ArrayList<>());
    while (reader.next()) {
      if (batch.getSpansSize() == 0) {
        batch.setBase_unix_nanos(reader.startUnixNanos());
      }
      batch.addToSpans(spanAtCursor(reader, batch.getBase_unix_nanos()));
    }
    while (reader.nextGroup()) {
      batch.addToGroups(groupAtCursor(reader));
    }
    readSample(reader, batch);
    for (int i = 0; reader.hasSizes() && i < batch.getSpansSize() + batch.getGroupsSize(); i++) {
      batch.addToSizes(reader.size(i));
    }
    assertThat(reader.rejection()).isEqualTo(Rejection.NONE);
    assertThat(reader.next()).isFalse();
    assertThat(reader.nextGroup()).isFalse();
    assertThat(reader.rejection()).isEqualTo(Rejection.NONE);
    batch.setVersion(batch.isSetGroups() ? 2 : 1);
    assertThat(batch.getSpansSize() + Batches.grouped(batch)).isEqualTo(reader.spanCount());
    batch.setBase_unix_nanosIsSet(true);
    return batch;
  }

  private static void readSample(SpanBatchReader reader, SpanBatch batch) {
    while (reader.nextSample()) {
      assertThat(reader.groupSize()).isZero();
      if (batch.getSpansSize() + batch.getSamplesSize() == 0) {
        batch.setBase_unix_nanos(reader.startUnixNanos());
      }
      batch.addToSamples(spanAtCursor(reader, batch.getBase_unix_nanos()));
    }
    while (reader.nextSampled()) {
      batch.addToSampled(reader.sampledSpan());
    }
    if (batch.isSetSamples() || batch.isSetSampled()) {
      batch.setSample_threshold(reader.sampleThreshold());
    }
    assertThat(reader.nextSample()).isFalse();
    assertThat(reader.nextSampled()).isFalse();
  }

  private static Span spanAtCursor(SpanBatchReader reader, long baseUnixNanos) {
    boolean root = reader.parentSpanId() == 0;
    ByteBuffer ids = ByteBuffer.allocate(root ? 24 : 32);
    ids.putLong(reader.traceIdHigh()).putLong(reader.traceIdLow()).putLong(reader.spanId());
    if (!root) {
      ids.putLong(reader.parentSpanId());
    }
    Span span = new Span();
    span.setIds(ids.flip());
    span.setName(reader.name());
    span.setKind((byte) reader.kind());
    span.setStatus((byte) reader.status());
    span.setStart_delta_nanos(reader.startUnixNanos() - baseUnixNanos);
    span.setDuration_nanos(reader.durationNanos());
    for (int i = 0; i < 2 * reader.attributeCount(); i++) {
      span.addToAttributes(reader.attributes()[i]);
    }
    if (reader.samplingThreshold() != 0) {
      span.setSampling_threshold(reader.samplingThreshold());
    }
    if (reader.statusMessage() >= 0) {
      span.setStatus_message(reader.statusMessage());
    }
    for (int i = 0; i < reader.eventNumbers(); i++) {
      span.addToEvents(reader.events()[i]);
    }
    return span;
  }

  private static SpanGroup groupAtCursor(SpanBatchReader reader) {
    assertThat(reader.traceIdHigh() | reader.traceIdLow() | reader.spanId()).isZero();
    assertThat(reader.parentSpanId() | reader.startUnixNanos() | reader.durationNanos()).isZero();
    assertThat(reader.statusMessage()).isEqualTo(-1);
    SpanGroup group = new SpanGroup();
    group.setName(reader.name());
    group.setKind((byte) reader.kind());
    group.setStatus((byte) reader.status());
    for (int i = 0; i < 2 * reader.attributeCount(); i++) {
      group.addToAttributes(reader.attributes()[i]);
    }
    if (reader.samplingThreshold() != 0) {
      group.setSampling_threshold(reader.samplingThreshold());
    }
    for (int i = 0; i < reader.groupSize(); i++) {
      group.addToDurations_nanos(reader.groupDurationsNanos()[i]);
    }
    for (int i = 0; i < reader.eventNumbers(); i++) {
      group.addToEvents(reader.events()[i]);
    }
    return group;
  }

  /**
   * The batch as the project's writer would say the same: relative to the first span's start, a
   * resource always, nothing optional that says nothing.
   */
  static SpanBatch canonical(SpanBatch batch) {
    SpanBatch copy = batch.deepCopy();
    if (!copy.isSetResource()) {
      copy.setResource(new ArrayList<>());
    }
    List<Span> whole = new ArrayList<>(copy.getSpans());
    if (copy.isSetSamples()) {
      whole.addAll(copy.getSamples());
    }
    long base =
        whole.isEmpty() ? 0 : copy.getBase_unix_nanos() + whole.getFirst().getStart_delta_nanos();
    for (Span span : whole) {
      span.setStart_delta_nanos(copy.getBase_unix_nanos() + span.getStart_delta_nanos() - base);
      if (span.getAttributesSize() == 0) {
        span.unsetAttributes();
      }
      if (span.getSampling_threshold() == 0) {
        span.unsetSampling_threshold();
      }
      if (span.getEventsSize() == 0) {
        span.unsetEvents();
      }
      if (span.getIds().length == 32 && ByteBuffer.wrap(span.getIds()).getLong(24) == 0) {
        span.setIds(Arrays.copyOf(span.getIds(), 24));
      }
    }
    copy.setBase_unix_nanos(base);
    if (copy.getSamplesSize() == 0) {
      copy.unsetSamples();
    }
    if (copy.getSampledSize() == 0) {
      copy.unsetSampled();
    }
    if (!copy.isSetSamples() && !copy.isSetSampled()) {
      copy.unsetSample_threshold();
    }
    if (copy.getGroupsSize() == 0) {
      copy.unsetGroups();
    } else {
      copy.getGroups().replaceAll(Messages::canonical);
    }
    copy.setVersion(copy.isSetGroups() ? 2 : 1);
    if (copy.getSizesSize() == 0) {
      copy.unsetSizes();
    }
    if (!copy.isSetGroups() || copy.getDemand() == 0) {
      copy.unsetDemand();
      copy.unsetGroup_keys();
    } else if (!copy.isSetGroup_keys()) {
      copy.setGroup_keys(new ArrayList<>());
    }
    return copy;
  }

  /** The group as the project's writer would say the same. */
  static SpanGroup canonical(SpanGroup group) {
    SpanGroup copy = group.deepCopy();
    if (copy.getAttributesSize() == 0) {
      copy.unsetAttributes();
    }
    if (copy.getSampling_threshold() == 0) {
      copy.unsetSampling_threshold();
    }
    if (copy.getEventsSize() == 0) {
      copy.unsetEvents();
    }
    return copy;
  }

  /** The message as a generated class writes it, except that a demand precedes the spans. */
  static byte[] generated(SpanBatch batch) {
    return permuted(batch, FIELDS, List.of());
  }

  /** The message as a generated class writes it, except that a demand precedes the spans. */
  static byte[] generated(org.traceetl.proto.extended.SpanBatch batch) {
    return permuted(batch, FIELDS, SPAN_FIELDS);
  }

  /** The message as a generated class writes it. */
  static byte[] generated(TBase<?, ?> struct) {
    try {
      return new TSerializer(new TCompactProtocol.Factory()).serialize(struct);
    } catch (TException e) {
      throw new AssertionError(e);
    }
  }

  /**
   * Returns the message with the given fields in that order. Spans, groups, and all structs within
   * a span of OzHera have theirs in {@code spanOrder}. {@link #UNKNOWN} is a field that no struct
   * has.
   */
  static byte[] permuted(TBase<?, ?> batch, List<Short> order, List<Short> spanOrder) {
    try {
      TMemoryBuffer out = new TMemoryBuffer(1024);
      writeStruct(new TCompactProtocol(out), batch, order, spanOrder);
      return Arrays.copyOf(out.getArray(), out.length());
    } catch (TException e) {
      throw new AssertionError(e);
    }
  }

  private static void writeStruct(
      TProtocol out, TBase<?, ?> struct, List<Short> order, List<Short> nested) throws TException {
    out.writeStructBegin(new TStruct(""));
    @SuppressWarnings({"unchecked", "rawtypes"}) // Its bounds name the field type twice.
    Map<? extends TFieldIdEnum, FieldMetaData> fields =
        FieldMetaData.getStructMetaDataMap((Class) struct.getClass());
    for (short id : order) {
      if (id == UNKNOWN) {
        out.writeFieldBegin(new TField("", TType.STRUCT, id));
        Batches.unknown().write(out);
        out.writeFieldEnd();
      }
      for (var field : fields.entrySet()) {
        Object value = valueOf(struct, field.getKey());
        if (field.getKey().getThriftFieldId() == id && value != null) {
          out.writeFieldBegin(new TField("", type(field.getValue().valueMetaData), id));
          writeValue(out, field.getValue().valueMetaData, value, nested);
          out.writeFieldEnd();
        }
      }
    }
    out.writeFieldStop();
    out.writeStructEnd();
  }

  private static byte type(FieldValueMetaData meta) {
    return meta.type == TType.ENUM ? TType.I32 : meta.type;
  }

  @SuppressWarnings("unchecked") // The field comes from the metadata of the struct's own class.
  private static <F extends TFieldIdEnum> Object valueOf(TBase<?, F> struct, TFieldIdEnum field) {
    return struct.isSet((F) field) ? struct.getFieldValue((F) field) : null;
  }

  private static void writeValue(
      TProtocol out, FieldValueMetaData meta, Object value, List<Short> spanOrder)
      throws TException {
    switch (meta.type) {
      case TType.BOOL -> out.writeBool((Boolean) value);
      case TType.BYTE -> out.writeByte((Byte) value);
      case TType.I16 -> out.writeI16((Short) value);
      case TType.I32 -> out.writeI32((Integer) value);
      case TType.ENUM -> out.writeI32(((TEnum) value).getValue());
      case TType.I64 -> out.writeI64((Long) value);
      case TType.DOUBLE -> out.writeDouble((Double) value);
      case TType.UUID -> out.writeUuid((java.util.UUID) value);
      case TType.STRING -> {
        if (value instanceof String text) {
          out.writeString(text);
        } else if (value instanceof ByteBuffer bytes) {
          out.writeBinary(bytes.duplicate());
        } else {
          out.writeBinary(ByteBuffer.wrap((byte[]) value));
        }
      }
      case TType.LIST -> {
        FieldValueMetaData element = ((ListMetaData) meta).elemMetaData;
        List<?> list = (List<?>) value;
        out.writeListBegin(new TList(element.type, list.size()));
        for (Object each : list) {
          writeValue(out, element, each, spanOrder);
        }
      }
      case TType.SET -> {
        FieldValueMetaData element = ((SetMetaData) meta).elemMetaData;
        java.util.Set<?> set = (java.util.Set<?>) value;
        out.writeSetBegin(new TSet(element.type, set.size()));
        for (Object each : set) {
          writeValue(out, element, each, spanOrder);
        }
      }
      case TType.MAP -> {
        MapMetaData map = (MapMetaData) meta;
        Map<?, ?> entries = (Map<?, ?>) value;
        out.writeMapBegin(new TMap(map.keyMetaData.type, map.valueMetaData.type, entries.size()));
        for (Map.Entry<?, ?> each : entries.entrySet()) {
          writeValue(out, map.keyMetaData, each.getKey(), spanOrder);
          writeValue(out, map.valueMetaData, each.getValue(), spanOrder);
        }
      }
      default -> {
        if (value instanceof org.traceetl.proto.extended.Span span) {
          writeStruct(out, span, spanOrder, List.of());
        } else if (value instanceof org.traceetl.proto.extended.SpanGroup group) {
          writeStruct(out, group, spanOrder, List.of());
        } else if (value instanceof EdgeGroup group) {
          writeStruct(out, group, spanOrder, List.of());
        } else if (value.getClass().getPackage() == TSpanData.class.getPackage()) {
          writeStruct(out, (TBase<?, ?>) value, spanOrder, spanOrder);
        } else {
          ((TBase<?, ?>) value).write(out);
        }
      }
    }
  }

  static List<Short> shorts(int... values) {
    return IntStream.of(values).mapToObj(value -> (short) value).toList();
  }

  static byte[] bytes(ByteBuffer buffer) {
    byte[] bytes = new byte[buffer.remaining()];
    buffer.duplicate().get(bytes);
    return bytes;
  }
}
