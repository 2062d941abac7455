package org.traceetl.proto;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.stream.IntStream;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.arbitraries.ListArbitrary;
import org.apache.thrift.TDeserializer;
import org.apache.thrift.TException;
import org.apache.thrift.protocol.TCompactProtocol;
import org.traceetl.proto.extended.Leaf;
import org.traceetl.proto.extended.Unknown;
import org.traceetl.proto.thrift.Span;
import org.traceetl.proto.thrift.SpanBatch;
import org.traceetl.proto.thrift.SpanGroup;

/** Batches to test with. */
final class Batches {
  private Batches() {}

  /** Any valid batch of up to 20 spans and 5 groups. */
  static Arbitrary<SpanBatch> any() {
    return dictionaries().flatMap(Batches::withDictionary);
  }

  static Arbitrary<List<ByteBuffer>> dictionaries() {
    Arbitrary<byte[]> strings =
        Arbitraries.oneOf(
            Arbitraries.strings().ofMaxLength(200).map(s -> s.getBytes(UTF_8)),
            Arbitraries.bytes().array(byte[].class).ofMaxSize(40));
    return strings.map(ByteBuffer::wrap).set().ofMinSize(1).ofMaxSize(200).map(ArrayList::new);
  }

  private static Arbitrary<SpanBatch> withDictionary(List<ByteBuffer> dictionary) {
    Arbitrary<Integer> indexes = Arbitraries.integers().between(0, dictionary.size() - 1);
    return Combinators.combine(
            withoutDemand(dictionary, indexes),
            durations().injectNull(0.5),
            indexes.list().ofMaxSize(30).injectNull(0.1),
            span(indexes).list().ofMaxSize(4).injectNull(0.5),
            Arbitraries.integers().between(0, 19).set().ofMaxSize(10),
            thresholds(),
            sizes().list().ofSize(25).injectNull(0.5))
        .as((batch, demand, keys, samples, sampled, threshold, sizes) -> {
          if (sizes != null) {
            batch.setSizes(sizes.subList(0, batch.getSpansSize() + batch.getGroupsSize()));
          }
          if (demand != null && demand > 0 && grouped(batch) > 0) {
            batch.setDemand(demand);
            batch.setGroup_keys(keys);
            batch.setSamples(samples);
            int spans = batch.getSpansSize();
            batch.setSampled(sampled.stream().filter(i -> i < spans).sorted().toList());
            batch.setSample_threshold(threshold);
          }
          return batch;
        });
  }

  private static Arbitrary<SpanBatch> withoutDemand(
      List<ByteBuffer> dictionary, Arbitrary<Integer> indexes) {
    return Combinators.combine(
            Arbitraries.bytes().array(byte[].class).ofSize(16),
            Arbitraries.longs(),
            Arbitraries.longs().greaterOrEqual(0),
            indexes,
            pairs(indexes, 4).injectNull(0.1),
            Arbitraries.longs(),
            span(indexes).list().ofMaxSize(20),
            groups(indexes).injectNull(0.3))
        .as((agent, epoch, sequence, application, resource, base, spans, groups) -> {
          SpanBatch batch = new SpanBatch();
          batch.setVersion(groups == null || groups.isEmpty() ? 1 : 2);
          batch.setAgent(agent);
          batch.setEpoch(epoch);
          batch.setSequence(sequence);
          batch.setGroups(groups);
          batch.setSpan_count(spans.size() + grouped(batch));
          batch.setDictionary(dictionary);
          batch.setApplication(application);
          batch.setResource(resource);
          batch.setBase_unix_nanos(base);
          batch.setSpans(spans);
          return batch;
        });
  }

  private static Arbitrary<Span> span(Arbitrary<Integer> indexes) {
    return Combinators.combine(spanWithoutEvents(indexes), events(indexes).injectNull(0.7))
        .as((span, events) -> span.setEvents(events));
  }

  /** Names, numbers of attributes, and those. */
  private static Arbitrary<List<Integer>> events(Arbitrary<Integer> indexes) {
    return Combinators.combine(indexes, pairs(indexes, 3))
        .as((name, attributes) -> {
          List<Integer> event = new ArrayList<>(List.of(name, attributes.size() / 2));
          event.addAll(attributes);
          return event;
        })
        .list()
        .ofMaxSize(4)
        .map(events -> events.stream().flatMap(List::stream).toList());
  }

  private static Arbitrary<Span> spanWithoutEvents(Arbitrary<Integer> indexes) {
    Arbitrary<byte[]> ids =
        Arbitraries.of(24, 32)
            .flatMap(length -> Arbitraries.bytes().array(byte[].class).ofSize(length));
    Arbitrary<Long> durations = durations();
    Arbitrary<Long> deltas =
        Combinators.combine(Arbitraries.longs(), Arbitraries.integers().between(0, 63))
            .as((value, shift) -> value >> shift);
    Arbitrary<Integer> kindsAndStatuses = Arbitraries.integers().between(0, 17);
    return Combinators.combine(
            ids,
            indexes,
            kindsAndStatuses,
            deltas,
            durations,
            pairs(indexes, 40).injectNull(0.2),
            thresholds().injectNull(0.5),
            indexes.injectNull(0.5))
        .as((idBytes, name, kindAndStatus, delta, duration, attributes, threshold, message) -> {
          Span span = new Span();
          span.setIds(idBytes);
          span.setName(name);
          span.setKind((byte) (kindAndStatus / 3));
          span.setStatus((byte) (kindAndStatus % 3));
          span.setStart_delta_nanos(delta);
          span.setDuration_nanos(duration);
          span.setAttributes(attributes);
          if (threshold != null) {
            span.setSampling_threshold(threshold);
          }
          if (message != null) {
            span.setStatus_message(message);
          }
          return span;
        });
  }

  /** Spans in the batch's groups. */
  static int grouped(SpanBatch batch) {
    return batch.isSetGroups()
        ? batch.getGroups().stream().mapToInt(SpanGroup::getDurations_nanosSize).sum()
        : 0;
  }

  /** Groups of which no two are alike. */
  private static Arbitrary<List<SpanGroup>> groups(Arbitrary<Integer> indexes) {
    return Combinators.combine(
            indexes,
            Arbitraries.integers().between(0, 17),
            pairs(indexes, 20).injectNull(0.2),
            thresholds().injectNull(0.5),
            durations().list().ofMinSize(1).ofMaxSize(40),
            events(indexes).injectNull(0.7))
        .as((name, kindAndStatus, attributes, threshold, durations, events) -> {
          SpanGroup group = new SpanGroup();
          group.setName(name);
          group.setKind((byte) (kindAndStatus / 3));
          group.setStatus((byte) (kindAndStatus % 3));
          group.setAttributes(attributes);
          if (threshold != null) {
            group.setSampling_threshold(threshold);
          }
          group.setDurations_nanos(durations);
          group.setEvents(events);
          return group;
        })
        .list()
        .ofMaxSize(5)
        .uniqueElements(group -> Messages.canonical(group).setDurations_nanos(null));
  }

  // Uniform bit lengths reach every length of varint.
  static Arbitrary<Long> durations() {
    return Combinators.combine(
            Arbitraries.longs().greaterOrEqual(0), Arbitraries.integers().between(0, 62))
        .as((value, shift) -> value >>> shift);
  }

  private static Arbitrary<Long> sizes() {
    return Combinators.combine(
            Arbitraries.longs().between(0, Limits.MAX_SPAN_BYTES),
            Arbitraries.integers().between(0, 31))
        .as((value, shift) -> value >>> shift);
  }

  // 63 bits of duration less 8 leave 55; the top one is set for the larger half.
  static Arbitrary<Long> thresholds() {
    return durations().map(value -> value >>> 8).map(value -> value | (value & 1) << 55);
  }

  static Arbitrary<List<Integer>> pairs(Arbitrary<Integer> indexes, int most) {
    ListArbitrary<List<Integer>> lists = indexes.list().ofSize(2).list().ofMaxSize(most);
    return lists.map(pairs -> {
      List<Integer> flat = new ArrayList<>();
      pairs.forEach(flat::addAll);
      return flat;
    });
  }

  /** One fixed batch that has everything the format has. */
  static SpanBatch fixed() {
    SpanBatch batch = new SpanBatch();
    batch.setVersion(1);
    batch.setAgent(ids(0x0102030405060708L, 0x090a0b0c0d0e0f10L));
    batch.setEpoch(7);
    batch.setSequence(300);
    batch.setSpan_count(3);
    for (String string :
        List.of(
            "checkout",
            "service.name",
            "GET /cart",
            "http.route",
            "/cart",
            "http.response.status_code",
            "500",
            "boom: naïve café",
            "")) {
      batch.addToDictionary(ByteBuffer.wrap(string.getBytes(UTF_8)));
    }
    // Indexes of two bytes too.
    for (int i = 9; i < 70; i++) {
      batch.addToDictionary(ByteBuffer.wrap(("entry " + i).getBytes(UTF_8)));
    }
    batch.setApplication(0);
    batch.setResource(List.of(1, 0));
    batch.setBase_unix_nanos(1_795_000_000_000_000_000L);

    Span server = new Span();
    server.setIds(ids(0x0af7651916cd43ddL, 0x8448eb211c80319cL, 0xb7ad6b7169203331L));
    server.setName(2);
    server.setKind((byte) 2);
    server.setStatus((byte) 2);
    server.setStart_delta_nanos(0);
    server.setDuration_nanos(12_345_678);
    server.setAttributes(List.of(3, 4, 5, 6, 65, 69));
    server.setSampling_threshold(1L << 55);
    server.setStatus_message(7);
    batch.addToSpans(server);

    Span client = new Span();
    client.setIds(ids(0x0af7651916cd43ddL, 0x8448eb211c80319cL, 1, 0xb7ad6b7169203331L));
    client.setName(66);
    client.setKind((byte) 3);
    client.setStatus((byte) 0);
    client.setStart_delta_nanos(-1_000_000);
    client.setDuration_nanos(0);
    client.setAttributes(List.of(9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24));
    batch.addToSpans(client);

    Span internal = new Span();
    internal.setIds(ids(0, 2, 3, -4));
    internal.setName(8);
    internal.setKind((byte) 1);
    internal.setStatus((byte) 1);
    internal.setStart_delta_nanos(Long.MAX_VALUE / 2);
    internal.setDuration_nanos(Long.MAX_VALUE);
    batch.addToSpans(internal);
    return batch;
  }

  /** The fixed batch, and groups that have everything that groups have. */
  static SpanBatch fixedWithGroups() {
    SpanBatch batch = fixed();
    batch.setVersion(2);
    batch.addToGroups(
        new SpanGroup()
            .setName(2)
            .setKind((byte) 3)
            .setStatus((byte) 0)
            .setDurations_nanos(List.of(0L, 250_000L, 63L, 64L, Long.MAX_VALUE)));
    batch.addToGroups(
        new SpanGroup()
            .setName(69)
            .setKind((byte) 1)
            .setStatus((byte) 2)
            .setAttributes(List.of(3, 4, 65, 69))
            .setSampling_threshold(1L << 55)
            .setDurations_nanos(Collections.nCopies(20, 1_000_000L)));
    batch.setSpan_count(3 + grouped(batch));
    return batch;
  }

  /** The fixed batch with groups, and events in a span and in a group. */
  static SpanBatch fixedWithEvents() {
    SpanBatch batch = fixedWithGroups();
    batch.getSpans().get(0).setEvents(List.of(12, 1, 13, 14, 12, 0, 69, 2, 15, 65, 3, 4));
    batch.getSpans().get(2).setEvents(List.of(69, 0));
    batch.getGroups().get(0).setEvents(List.of(12, 1, 13, 14));
    batch.getGroups().get(1).setEvents(List.of(12, 0));
    return batch;
  }

  /** The fixed batch with events, whose groups were made by a demand. */
  static SpanBatch fixedWithDemand() {
    return fixedWithEvents()
        .setDemand(1_795_255_028_312L)
        .setGroup_keys(IntStream.of(3, 9, 65, 69).boxed().toList());
  }

  /** The fixed batch with a demand, and a sample. */
  static SpanBatch fixedWithSample() {
    SpanBatch batch = fixedWithDemand();
    Span sample = new Span();
    sample.setIds(ids(0x0af7651916cd43ddL, 0x8448eb211cfe319cL, 9, 1));
    sample.setName(2);
    sample.setKind((byte) 3);
    sample.setStatus((byte) 0);
    sample.setStart_delta_nanos(2_000);
    sample.setDuration_nanos(250_000);
    sample.setAttributes(List.of(3, 4, 9, 69));
    sample.setSampling_threshold(127L << 49);
    sample.setEvents(List.of(12, 1, 13, 14));
    batch.addToSamples(sample);
    batch.addToSamples(new Span(sample).setDuration_nanos(63));
    batch.setSampled(List.of(0, 2));
    batch.setSample_threshold(127L << 49);
    return batch;
  }

  /** The fixed batch with a sample, and the sizes of its spans and groups. */
  static SpanBatch fixedWithSizes() {
    return fixedWithSample().setSizes(List.of(415L, 0L, 63L, 64L, (1L << 24) + 1_000));
  }

  /** The batch as a later version's writer could send it, without unknown fields so far. */
  static org.traceetl.proto.extended.SpanBatch extended(SpanBatch batch) {
    var extended = new org.traceetl.proto.extended.SpanBatch();
    try {
      new TDeserializer(new TCompactProtocol.Factory())
          .deserialize(extended, Messages.generated(batch));
    } catch (TException e) {
      throw new AssertionError(e);
    }
    return extended;
  }

  /** The batch with unknown fields of every type in it, in its spans and in its groups. */
  static org.traceetl.proto.extended.SpanBatch withUnknownFields(SpanBatch batch) {
    var extended = extended(batch);
    extended.setAfter(unknown());
    extended.addToFar_after(unknown());
    extended.addToFar_after(new Unknown());
    for (var span : extended.getSpans()) {
      span.setFlag(true);
      span.setAfter(unknown());
    }
    if (extended.isSetGroups()) {
      for (var group : extended.getGroups()) {
        group.setFlag(true);
        group.setAfter(unknown());
      }
    }
    return extended;
  }

  /** A struct with fields of every type. */
  static Unknown unknown() {
    Leaf leaf = new Leaf().setNumber(Integer.MIN_VALUE).setText("leaf");
    return new Unknown()
        .setYes(true)
        .setNo(false)
        .setSmall((byte) -1)
        .setShort_number(Short.MIN_VALUE)
        .setNumber(Integer.MAX_VALUE)
        .setLong_number(Long.MIN_VALUE)
        .setReal(Math.PI)
        .setText("text")
        .setFlags(List.of(true, false, true))
        .setNumbers(Collections.nCopies(20, Long.MAX_VALUE))
        .setTexts(Set.of("a", ""))
        .setLeaves(Map.of("none", List.of(), "two", List.of(leaf, new Leaf())))
        .setEmpty(Map.of())
        .setLeaf(leaf)
        .setReals(List.of(List.of(), List.of(1.0, 2.0)))
        .setId(new UUID(1, 2));
  }

  static byte[] ids(long... parts) {
    ByteBuffer bytes = ByteBuffer.allocate(Long.BYTES * parts.length);
    for (long part : parts) {
      bytes.putLong(part);
    }
    return bytes.array();
  }
}
