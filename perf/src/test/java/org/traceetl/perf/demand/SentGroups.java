package org.traceetl.perf.demand;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.Collection;
import java.util.List;
import org.traceetl.proto.Rejection;
import org.traceetl.proto.SpanBatchReader;

/**
 * The groups of batches that lack an attribute, because the demand did not have it.
 *
 * @param spans in them
 * @param weight of these spans
 */
record SentGroups(long spans, long weight) {
  private static final long THRESHOLDS = 1L << 56;

  static SentGroups lacking(String key, Collection<List<byte[]>> batches) {
    SpanBatchReader reader = new SpanBatchReader();
    long spans = 0;
    long weight = 0;
    for (List<byte[]> bodies : batches) {
      for (byte[] body : bodies) {
        assertThat(reader.wrap(body, 0, body.length)).isEqualTo(Rejection.NONE);
        while (reader.next()) {
          // Whole spans precede groups.
        }
        while (reader.nextGroup()) {
          if (reader.demand() > 0 && !hasGroupKey(reader, key) && !hasAttribute(reader, key)) {
            spans += reader.groupSize();
            weight += reader.groupSize() * (THRESHOLDS / (THRESHOLDS - reader.samplingThreshold()));
          }
        }
        assertThat(reader.rejection()).isEqualTo(Rejection.NONE);
      }
    }
    return new SentGroups(spans, weight);
  }

  private static boolean hasGroupKey(SpanBatchReader reader, String key) {
    for (int i = 0; i < reader.groupKeyCount(); i++) {
      if (text(reader, reader.groupKey(i)).equals(key)) {
        return true;
      }
    }
    return false;
  }

  private static boolean hasAttribute(SpanBatchReader reader, String key) {
    for (int i = 0; i < reader.attributeCount(); i++) {
      if (text(reader, reader.attributes()[2 * i]).equals(key)) {
        return true;
      }
    }
    return false;
  }

  private static String text(SpanBatchReader reader, int entry) {
    return new String(
        reader.buffer(), reader.dictionaryOffset(entry), reader.dictionaryLength(entry), UTF_8);
  }
}
