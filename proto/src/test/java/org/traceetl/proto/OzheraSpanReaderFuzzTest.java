package org.traceetl.proto;

import static org.assertj.core.api.Assertions.assertThat;

import com.code_intelligence.jazzer.junit.FuzzTest;
import org.apache.thrift.TDeserializer;
import org.apache.thrift.TException;
import org.apache.thrift.protocol.TCompactProtocol;
import org.traceetl.proto.thrift.ozhera.TSpanData;

/**
 * Any bytes at all. In the usual run it goes through the seeds in {@code
 * OzheraSpanReaderFuzzTestInputs}; with {@code JAZZER_FUZZ=1} in the environment it looks for more,
 * for as long as said below: {@code JAZZER_FUZZ=1 mvn -pl proto test
 * -Dtest=OzheraSpanReaderFuzzTest}.
 */
final class OzheraSpanReaderFuzzTest {
  private static final OzheraSpanReader READER = new OzheraSpanReader();

  @FuzzTest(maxDuration = "3m")
  void everyMessageIsReadOrRefused(byte[] message) {
    if (OzheraSpanReaderTest.outcome(message) != Rejection.NONE) {
      return;
    }
    // What the reader takes, it takes as Thrift does.
    TSpanData span = new TSpanData();
    try {
      new TDeserializer(new TCompactProtocol.Factory()).deserialize(span, message);
    } catch (TException e) {
      // It looks into what the reader skips.
      return;
    }
    assertThat(OzheraSpans.read(message, READER)).isEqualTo(OzheraSpans.expected(span));
  }
}
