package org.traceetl.proto;

import static org.assertj.core.api.Assertions.assertThat;

import com.code_intelligence.jazzer.junit.FuzzTest;
import org.apache.thrift.TDeserializer;
import org.apache.thrift.TException;
import org.apache.thrift.protocol.TCompactProtocol;
import org.traceetl.proto.thrift.SpanBatch;

/**
 * Any bytes at all. In the usual run it goes through the seeds in {@code
 * SpanBatchReaderFuzzTestInputs}; with {@code JAZZER_FUZZ=1} in the environment it looks for more,
 * for as long as said below: {@code JAZZER_FUZZ=1 mvn -pl proto test
 * -Dtest=SpanBatchReaderFuzzTest}.
 */
final class SpanBatchReaderFuzzTest {
  // Kept from message to message, as a worker keeps its own.
  private static final SpanBatchReader READER = new SpanBatchReader();

  @FuzzTest(maxDuration = "3m")
  void everyMessageIsReadOrRefused(byte[] message) {
    if (ReadToTheEnd.of(READER, message, 0, message.length) != Rejection.NONE) {
      return;
    }
    // What the reader takes, it takes as Thrift does.
    SpanBatch batch = new SpanBatch();
    try {
      new TDeserializer(new TCompactProtocol.Factory()).deserialize(batch, message);
    } catch (TException e) {
      // Thrift's own library cannot skip a list of UUIDs.
      assertThat(e).hasMessage("unrecognized type code");
      return;
    }
    assertThat(Messages.read(message, READER)).isEqualTo(Messages.canonical(batch));
  }
}
