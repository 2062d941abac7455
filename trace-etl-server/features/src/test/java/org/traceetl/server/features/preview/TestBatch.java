package org.traceetl.server.features.preview;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.Arrays;
import org.traceetl.proto.SpanBatchWriter;

/** Builds batches of spans, some of them in groups by a demand. */
final class TestBatch {
  private final SpanBatchWriter writer = new SpanBatchWriter();
  private final int spansPerSample;

  /**
   * @param spansPerSample a power of two
   */
  TestBatch(int spansPerSample) {
    this.spansPerSample = spansPerSample;
  }

  /**
   * @param demanded attributes that groups have
   */
  void begin(String application, String... demanded) {
    writer.begin();
    writer.application(intern(application));
    writer.demand(7);
    for (String key : demanded) {
      writer.groupKey(intern(key));
    }
    writer.sampleThreshold((spansPerSample - 1L << 56) / spansPerSample);
  }

  void grouped(String... attributes) {
    writer.startGroupedSpan(intern("GET /"), 2, 0, 5, 0);
    end(attributes);
  }

  void whole(String... attributes) {
    writer.startSpan(1, 2, 3, 0, intern("GET /"), 2, 0, 1_000, 5, 0);
    end(attributes);
  }

  void sample(String... attributes) {
    writer.startSample(1, 2, 3, 0, intern("GET /"), 2, 0, 1_000, 5, 0);
    end(attributes);
  }

  private void end(String... attributes) {
    for (int i = 0; i < attributes.length; i += 2) {
      writer.attribute(intern(attributes[i]), intern(attributes[i + 1]));
    }
    writer.endSpan();
  }

  private int intern(String text) {
    byte[] bytes = text.getBytes(UTF_8);
    return writer.intern(bytes, 0, bytes.length);
  }

  byte[] message() {
    int length = writer.finish(1, 0, 1, 0);
    return Arrays.copyOf(writer.buffer(), length);
  }
}
