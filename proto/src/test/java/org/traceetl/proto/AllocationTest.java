package org.traceetl.proto;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

final class AllocationTest {
  private static final int MESSAGES = 2_000;

  private final byte[][] strings = new byte[100][];
  private final SpanBatchWriter writer = new SpanBatchWriter();
  private final SpanBatchReader reader = new SpanBatchReader();
  private final EdgeBatchWriter edgeWriter = new EdgeBatchWriter();
  private final EdgeBatchReader edgeReader = new EdgeBatchReader();
  private final int[] dimensions = new int[4];
  private long attributesRead;
  private long durationsRead;
  private long eventsRead;
  private long idsRead;
  private long keysRead;
  private long newGroups;
  private long samplesRead;
  private long bytesRead;
  private long halvesRead;

  AllocationTest() {
    for (int i = 0; i < strings.length; i++) {
      strings[i] = ("a string of some length, number " + i).getBytes(UTF_8);
    }
  }

  @Test
  void writingAllocatesNothing() {
    Runnable work =
        () -> {
          for (int i = 0; i < MESSAGES; i++) {
            write();
          }
        };
    work.run();
    assertThat(AllocatedBytes.by(work)).isZero();
    assertThat(newGroups).isEqualTo(2L * MESSAGES * 60);
  }

  @Test
  void readingAllocatesNothing() {
    int length = write();
    Runnable work =
        () -> {
          for (int i = 0; i < MESSAGES; i++) {
            reader.wrap(writer.buffer(), 0, length);
            while (reader.next()) {
              attributesRead += reader.attributeCount();
              eventsRead += reader.eventNumbers() / 4;
            }
            while (reader.nextGroup()) {
              durationsRead += reader.groupSize();
              keysRead += reader.groupKeyCount();
            }
            while (reader.nextSample()) {
              samplesRead += reader.attributeCount();
            }
            while (reader.nextSampled()) {
              samplesRead++;
            }
            for (int entry = 0; reader.hasSizes() && entry < 20 + 60; entry++) {
              bytesRead += reader.size(entry);
            }
          }
        };
    work.run();
    assertThat(AllocatedBytes.by(work)).isZero();
    assertThat(reader.rejection()).isEqualTo(Rejection.NONE);
    assertThat(attributesRead).isEqualTo(2L * MESSAGES * 20 * 12);
    assertThat(eventsRead).isEqualTo(2L * MESSAGES * 7);
    assertThat(durationsRead).isEqualTo(2L * MESSAGES * 200);
    assertThat(keysRead).isEqualTo(2L * MESSAGES * 60);
    assertThat(samplesRead).isEqualTo(2L * MESSAGES * (25 * 2 + 10));
    assertThat(bytesRead).isEqualTo(2L * MESSAGES * (20 * 300 + 200 * 400));
  }

  @Test
  void writingHalfEdgesAllocatesNothing() {
    Runnable work =
        () -> {
          for (int i = 0; i < MESSAGES; i++) {
            writeEdges();
          }
        };
    work.run();
    assertThat(AllocatedBytes.by(work)).isZero();
  }

  @Test
  void readingHalfEdgesAllocatesNothing() {
    int length = writeEdges();
    Runnable work =
        () -> {
          for (int i = 0; i < MESSAGES; i++) {
            edgeReader.wrap(edgeWriter.buffer(), 0, length);
            while (edgeReader.nextHead()) {
              attributesRead += edgeReader.dimensionCount();
              while (edgeReader.next()) {
                halvesRead += edgeReader.isWaiting() ? edgeReader.check() : 1;
              }
            }
          }
        };
    work.run();
    assertThat(AllocatedBytes.by(work)).isZero();
    assertThat(edgeReader.rejection()).isEqualTo(Rejection.NONE);
    assertThat(attributesRead).isEqualTo(2L * MESSAGES * 20 * 2);
    assertThat(halvesRead).isEqualTo(2L * MESSAGES * (200 * 3 + 100));
  }

  @Test
  void readingASpanOfOzheraAllocatesNothing() {
    byte[] message = Messages.generated(OzheraSpans.fixed());
    OzheraSpanReader span = new OzheraSpanReader();
    Runnable work =
        () -> {
          for (int i = 0; i < MESSAGES; i++) {
            idsRead += span.read(message, 0, message.length) == Rejection.NONE ? 1 : 0;
            attributesRead += span.attributes().count() + span.resourceAttributes().count();
            idsRead += span.traceIdLow() == 0x8448eb211c80319cL ? 1 : 0;
          }
        };
    work.run();
    assertThat(AllocatedBytes.by(work)).isZero();
    assertThat(idsRead).isEqualTo(2L * 2 * MESSAGES);
    assertThat(attributesRead).isEqualTo(2L * MESSAGES * 10);
  }

  @Test
  void idsAreParsedAndWrittenWithoutAllocation() {
    byte[] hex = new byte[TraceId.HEX_LENGTH];
    Runnable work =
        () -> {
          for (int i = 0; i < MESSAGES; i++) {
            TraceId.writeHex(i, ~i, hex, 0);
            idsRead += TraceId.isHex(hex, 0) && SpanId.parseHex(hex, 16) == ~i ? 1 : 0;
          }
        };
    work.run();
    assertThat(AllocatedBytes.by(work)).isZero();
    assertThat(idsRead).isEqualTo(2L * MESSAGES);
  }

  private int write() {
    writer.begin();
    writer.application(intern(0));
    writer.resourceAttribute(intern(1), intern(0));
    writer.demand(7);
    writer.groupKey(intern(1));
    writer.sampleThreshold(1L << 55);
    writer.keepSizes();
    for (int i = 0; i < 20; i++) {
      writer.startSpan(i, 2, 3, i % 2, intern(i), 2, 1, i, i * 1_000_000L, i);
      for (int a = 0; a < 12; a++) {
        writer.attribute(intern(a), intern(50 + (i + a) % 50));
      }
      writer.statusMessage(intern(i));
      if (i % 3 == 0) {
        writer.event(intern(40));
        writer.eventAttribute(intern(41), intern(42 + i % 5));
      }
      if (i % 2 == 0) {
        writer.sampled();
      }
      writer.size(300);
      writer.endSpan();
    }
    for (int i = 0; i < 200; i++) {
      writer.startGroupedSpan(intern(i % 20), 3, 0, i * 1_000_000L, 0);
      writer.attribute(intern(1), intern(i % 3));
      writer.size(400);
      newGroups += writer.startsGroup() ? 1 : 0;
      writer.endSpan();
      if (i % 8 == 0) {
        writer.startSample(i, 2, 3, i % 2, intern(i % 20), 3, 0, i, i * 1_000_000L, 1L << 55);
        writer.attribute(intern(1), intern(i % 3));
        writer.attribute(intern(2), intern(i % 5));
        writer.endSpan();
      }
    }
    return writer.finish(1, 2, 3, 4);
  }

  private int writeEdges() {
    edgeWriter.begin();
    for (int i = 0; i < 300; i++) {
      int application = internEdge(i % 20);
      for (int d = 0; d < dimensions.length; d++) {
        dimensions[d] = internEdge(40 + (i + d) % 20);
      }
      edgeWriter.head(application, -1, 1 + i % 4, i % 5 == 0, 0, application, i % 2, dimensions, 2);
      if (i % 3 == 0) {
        edgeWriter.immediate(i * 1_000_000L);
      } else {
        edgeWriter.waiting(EdgeKey.key(1, 2, i), 3, i * 1_000_000L, 0);
      }
    }
    return edgeWriter.finish(1, 2, 3, 4);
  }

  private int internEdge(int i) {
    return edgeWriter.intern(strings[i], 0, strings[i].length);
  }

  private int intern(int i) {
    return writer.intern(strings[i], 0, strings[i].length);
  }
}
