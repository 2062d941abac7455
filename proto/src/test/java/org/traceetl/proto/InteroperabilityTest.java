package org.traceetl.proto;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.apache.thrift.TDeserializer;
import org.apache.thrift.TException;
import org.apache.thrift.protocol.TCompactProtocol;
import org.traceetl.proto.extended.BatchBeforeDemand;
import org.traceetl.proto.thrift.SpanBatch;

/** Writer, reader and the generated classes say the same of the same bytes. */
final class InteroperabilityTest {
  // Kept from try to try: nothing of one batch may show in the next.
  private static final SpanBatchWriter WRITER = new SpanBatchWriter();
  private static final SpanBatchReader READER = new SpanBatchReader();

  @Property(tries = 300)
  void theWriterMakesTheBytesThatTheGeneratedClassMakes(@ForAll("batches") SpanBatch batch) {
    SpanBatch canonical = Messages.canonical(batch);
    byte[] written = Messages.written(canonical, WRITER);
    assertThat(written).isEqualTo(Messages.generated(canonical));
  }

  @Property(tries = 300)
  void theReaderReadsWhatTheWriterWrote(@ForAll("batches") SpanBatch batch) {
    byte[] written = Messages.written(batch, WRITER);
    assertThat(Messages.read(written, READER)).isEqualTo(Messages.canonical(batch));
  }

  @Property(tries = 300)
  void theReaderReadsWhatTheGeneratedClassWrote(@ForAll("batches") SpanBatch batch) {
    assertThat(Messages.read(Messages.generated(batch), READER))
        .isEqualTo(Messages.canonical(batch));
  }

  @Property(tries = 300)
  void theGeneratedClassReadsWhatTheWriterWrote(@ForAll("batches") SpanBatch batch)
      throws TException {
    SpanBatch read = new SpanBatch();
    new TDeserializer(new TCompactProtocol.Factory())
        .deserialize(read, Messages.written(batch, WRITER));
    assertThat(read).isEqualTo(Messages.canonical(batch));
  }

  @Property(tries = 100)
  void unknownFieldsAreSkipped(@ForAll("batches") SpanBatch batch) {
    byte[] message = Messages.generated(Batches.withUnknownFields(batch));
    assertThat(Messages.read(message, READER)).isEqualTo(Messages.canonical(batch));
  }

  @Property(tries = 300)
  void fieldsMayStandInAnyOrderAfterTheDictionary(
      @ForAll("batches") SpanBatch batch,
      @ForAll("afterTheDictionary") List<Short> order,
      @ForAll("spanFields") List<Short> spanOrder) {
    List<Short> whole = Stream.concat(Messages.shorts(6, 13, 12).stream(), order.stream()).toList();
    byte[] message = Messages.permuted(Batches.withUnknownFields(batch), whole, spanOrder);
    assertThat(Messages.read(message, READER)).isEqualTo(Messages.canonical(batch));
  }

  @Property(tries = 300)
  void readersBuiltBeforeTheDemandReadTheSameSpansAndGroups(@ForAll("batches") SpanBatch batch)
      throws TException {
    BatchBeforeDemand earlier = new BatchBeforeDemand();
    BatchBeforeDemand expected = new BatchBeforeDemand();
    TDeserializer deserializer = new TDeserializer(new TCompactProtocol.Factory());
    deserializer.deserialize(earlier, Messages.written(batch, WRITER));

    SpanBatch without = batch.deepCopy();
    without.unsetDemand();
    without.unsetSamples();
    without.unsetSampled();
    without.unsetSizes();
    deserializer.deserialize(expected, Messages.written(without, WRITER));
    if (batch.getSpansSize() == 0) {
      // The starts of samples are relative to it; earlier readers have no start to compute.
      earlier.setBase_unix_nanos(0);
    }
    assertThat(earlier).isEqualTo(expected);
  }

  @Property(tries = 300)
  void sampleChangesNothingBeforeIt(@ForAll("batches") SpanBatch batch) {
    batch.unsetSizes();
    SpanBatch without = batch.deepCopy();
    without.unsetSamples();
    without.unsetSampled();
    if (batch.getSpansSize() == 0) {
      // Starts are relative to the first whole span.
      batch.setBase_unix_nanos(0);
      batch.unsetSamples();
    }
    byte[] alone = Messages.written(without, WRITER);
    byte[] sampled = Messages.written(batch, WRITER);
    assertThat(Arrays.copyOf(sampled, alone.length - 1))
        .isEqualTo(Arrays.copyOf(alone, alone.length - 1));
  }

  @Property(tries = 300)
  void sizesChangeNothingBeforeThem(@ForAll("batches") SpanBatch batch) {
    byte[] sized = Messages.written(batch, WRITER);
    batch.unsetSizes();
    byte[] alone = Messages.written(batch, WRITER);
    assertThat(Arrays.copyOf(sized, alone.length - 1))
        .isEqualTo(Arrays.copyOf(alone, alone.length - 1));
  }

  /** Spans in any order; some of them belong to groups. */
  @Property(tries = 300)
  void noSpanIsLostOrChangedByGrouping(@ForAll long seed) {
    Random random = new Random(seed);
    WRITER.begin();
    byte[] text = new byte[1];
    for (int i = 0; i < 20; i++) {
      text[0] = (byte) i;
      WRITER.intern(text, 0, 1);
    }
    WRITER.application(0);
    Map<List<Object>, Integer> expected = new HashMap<>();
    int spans = random.nextInt(600);
    for (int i = 0; i < spans; i++) {
      boolean grouped = random.nextBoolean();
      int name = random.nextInt(3);
      int kind = random.nextInt(2);
      int status = random.nextInt(2);
      long threshold = random.nextInt(4) == 0 ? 1L << 55 : 0;
      long duration = random.nextLong(1, Long.MAX_VALUE) >>> random.nextInt(62);
      List<Integer> attributes = new ArrayList<>();
      for (int a = random.nextInt(3); a > 0; a--) {
        attributes.add(random.nextInt(3));
        attributes.add(random.nextInt(3));
      }
      if (grouped) {
        WRITER.startGroupedSpan(name, kind, status, duration, threshold);
      } else {
        WRITER.startSpan(1, 2, i, 0, name, kind, status, i, duration, threshold);
      }
      for (int a = 0; a < attributes.size(); a += 2) {
        WRITER.attribute(attributes.get(a), attributes.get(a + 1));
      }
      WRITER.endSpan();
      expected.merge(
          List.of(grouped, name, kind, status, threshold, attributes, duration), 1, Integer::sum);
    }
    int bound = WRITER.sizeBytes();
    int length = WRITER.finish(1, 2, 3, 4);
    assertThat(length).isLessThanOrEqualTo(bound);

    Map<List<Object>, Integer> read = new HashMap<>();
    assertThat(READER.wrap(WRITER.buffer(), 0, length)).isEqualTo(Rejection.NONE);
    while (READER.next()) {
      read.merge(atCursor(false, READER.durationNanos()), 1, Integer::sum);
    }
    int groups = 0;
    while (READER.nextGroup()) {
      groups++;
      for (int i = 0; i < READER.groupSize(); i++) {
        read.merge(atCursor(true, READER.groupDurationsNanos()[i]), 1, Integer::sum);
      }
    }
    assertThat(READER.rejection()).isEqualTo(Rejection.NONE);
    assertThat(READER.spanCount()).isEqualTo(spans);
    assertThat(read).isEqualTo(expected);
    assertThat(groups)
        .as("alike ones share a group")
        .isEqualTo(
            expected.keySet().stream()
                .filter(span -> span.getFirst().equals(true))
                .map(span -> span.subList(0, 6))
                .distinct()
                .count());
  }

  private static List<Object> atCursor(boolean grouped, long duration) {
    return List.of(
        grouped,
        READER.name(),
        READER.kind(),
        READER.status(),
        READER.samplingThreshold(),
        IntStream.of(READER.attributes()).limit(2L * READER.attributeCount()).boxed().toList(),
        duration);
  }

  @Provide
  Arbitrary<SpanBatch> batches() {
    return Batches.any();
  }

  @Provide
  Arbitrary<List<Short>> afterTheDictionary() {
    return Arbitraries.shuffle(
        Messages.shorts(1, 2, 3, 4, 5, 7, 8, 9, 10, 11, 14, 15, 16, 17, 18, 3000));
  }

  @Provide
  Arbitrary<List<Short>> spanFields() {
    return Arbitraries.shuffle(Messages.shorts(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 200));
  }
}
