package org.traceetl.proto;

import static org.assertj.core.api.Assertions.assertThat;

import com.code_intelligence.jazzer.junit.FuzzTest;
import org.apache.thrift.TDeserializer;
import org.apache.thrift.TException;
import org.apache.thrift.protocol.TCompactProtocol;
import org.traceetl.proto.thrift.EdgeBatch;

/**
 * Any bytes. The usual run reads the seeds in {@code EdgeBatchReaderFuzzTestInputs}. With {@code
 * JAZZER_FUZZ=1} in the environment it searches for more, for the duration below: {@code
 * JAZZER_FUZZ=1 mvn -pl proto test -Dtest=EdgeBatchReaderFuzzTest}.
 */
final class EdgeBatchReaderFuzzTest {
  // Kept from message to message, as a worker keeps its own.
  private static final EdgeBatchReader READER = new EdgeBatchReader();

  @FuzzTest(maxDuration = "3m")
  void everyMessageIsReadOrRefused(byte[] message) {
    if (EdgeBatches.outcome(READER, message, 0, message.length) != Rejection.NONE) {
      return;
    }
    // Thrift reads what the reader accepts, with the same result.
    EdgeBatch batch = new EdgeBatch();
    try {
      new TDeserializer(new TCompactProtocol.Factory()).deserialize(batch, message);
    } catch (TException e) {
      // Thrift's own library cannot skip a list of UUIDs.
      assertThat(e).hasMessage("unrecognized type code");
      return;
    }
    assertThat(EdgeBatches.read(message, READER)).isEqualTo(EdgeBatches.canonical(batch));
  }
}
