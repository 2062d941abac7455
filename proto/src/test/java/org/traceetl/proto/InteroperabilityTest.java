package org.traceetl.proto;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
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
    List<Short> whole = Stream.concat(Stream.of((short) 6), order.stream()).toList();
    byte[] message = Messages.permuted(Batches.withUnknownFields(batch), whole, spanOrder);
    assertThat(Messages.read(message, READER)).isEqualTo(Messages.canonical(batch));
  }

  @Provide
  Arbitrary<SpanBatch> batches() {
    return Batches.any();
  }

  @Provide
  Arbitrary<List<Short>> afterTheDictionary() {
    return Arbitraries.shuffle(shorts(1, 2, 3, 4, 5, 7, 8, 9, 10, 11, 3000));
  }

  @Provide
  Arbitrary<List<Short>> spanFields() {
    return Arbitraries.shuffle(shorts(1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 200));
  }

  private static List<Short> shorts(int... values) {
    return IntStream.of(values).mapToObj(value -> (short) value).toList();
  }
}
