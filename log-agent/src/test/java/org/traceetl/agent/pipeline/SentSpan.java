package org.traceetl.agent.pipeline;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.traceetl.proto.Rejection;
import org.traceetl.proto.SpanBatchReader;

/**
 * What a server reads of a span.
 *
 * @param whole whether it is a span of its own, else one of a group
 * @param statusMessage null without one
 * @param attributes in the order of the batch
 * @param events name and number of attributes of each
 */
record SentSpan(
    String application,
    boolean whole,
    String name,
    int kind,
    int status,
    long durationNanos,
    long samplingThreshold,
    String statusMessage,
    Map<String, String> attributes,
    List<String> events) {
  /** Reads a batch that must be valid. */
  static List<SentSpan> read(byte[] body) {
    List<SentSpan> spans = new ArrayList<>();
    SpanBatchReader reader = new SpanBatchReader();
    assertThat(reader.wrap(body, 0, body.length)).isEqualTo(Rejection.NONE);
    while (reader.next()) {
      spans.add(of(reader, true, reader.durationNanos()));
    }
    while (reader.nextGroup()) {
      for (int i = 0; i < reader.groupSize(); i++) {
        spans.add(of(reader, false, reader.groupDurationsNanos()[i]));
      }
    }
    assertThat(reader.rejection()).isEqualTo(Rejection.NONE);
    return spans;
  }

  /** Reads the samples of a batch that must be valid. */
  static List<SentSpan> samples(byte[] body) {
    List<SentSpan> samples = new ArrayList<>();
    SpanBatchReader reader = toTheSample(body);
    while (reader.nextSample()) {
      samples.add(of(reader, true, reader.durationNanos()));
    }
    assertThat(reader.rejection()).isEqualTo(Rejection.NONE);
    return samples;
  }

  /** Returns the places of the whole spans of a batch that are members of the sample. */
  static List<Integer> sampled(byte[] body) {
    List<Integer> sampled = new ArrayList<>();
    SpanBatchReader reader = toTheSample(body);
    while (reader.nextSampled()) {
      sampled.add(reader.sampledSpan());
    }
    assertThat(reader.rejection()).isEqualTo(Rejection.NONE);
    return sampled;
  }

  /** Returns the sizes of a batch's whole spans, then of its groups; empty if it has none. */
  static List<Long> sizes(byte[] body) {
    List<Long> sizes = new ArrayList<>();
    SpanBatchReader reader = new SpanBatchReader();
    assertThat(reader.wrap(body, 0, body.length)).isEqualTo(Rejection.NONE);
    int entries = 0;
    while (reader.next()) {
      entries++;
    }
    while (reader.nextGroup()) {
      entries++;
    }
    assertThat(reader.rejection()).isEqualTo(Rejection.NONE);
    for (int i = 0; reader.hasSizes() && i < entries; i++) {
      sizes.add(reader.size(i));
    }
    return sizes;
  }

  private static SpanBatchReader toTheSample(byte[] body) {
    SpanBatchReader reader = new SpanBatchReader();
    assertThat(reader.wrap(body, 0, body.length)).isEqualTo(Rejection.NONE);
    while (reader.next()) {
      // Whole spans and groups precede the sample.
    }
    while (reader.nextGroup()) {
      // As before.
    }
    return reader;
  }

  private static SentSpan of(SpanBatchReader reader, boolean whole, long durationNanos) {
    Map<String, String> attributes = new LinkedHashMap<>();
    for (int i = 0; i < reader.attributeCount(); i++) {
      attributes.put(
          text(reader, reader.attributes()[2 * i]), text(reader, reader.attributes()[2 * i + 1]));
    }
    List<String> events = new ArrayList<>();
    for (int at = 0; at < reader.eventNumbers(); at += 2 + 2 * reader.events()[at + 1]) {
      events.add(text(reader, reader.events()[at]) + " " + reader.events()[at + 1]);
    }
    boolean hasMessage = whole && reader.statusMessage() >= 0;
    return new SentSpan(
        text(reader, reader.application()),
        whole,
        text(reader, reader.name()),
        reader.kind(),
        reader.status(),
        durationNanos,
        reader.samplingThreshold(),
        hasMessage ? text(reader, reader.statusMessage()) : null,
        attributes,
        events);
  }

  static String text(SpanBatchReader reader, int index) {
    return new String(
        reader.buffer(), reader.dictionaryOffset(index), reader.dictionaryLength(index), UTF_8);
  }
}
