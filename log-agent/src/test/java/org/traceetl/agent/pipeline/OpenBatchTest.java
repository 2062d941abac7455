package org.traceetl.agent.pipeline;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.traceetl.agent.flow.TestAttributes.add;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.traceetl.agent.config.PipelineConfig;
import org.traceetl.agent.flow.Attributes;
import org.traceetl.agent.flow.SpanEvents;
import org.traceetl.agent.flow.SpanView;
import org.traceetl.proto.Limits;
import org.traceetl.proto.Rejection;
import org.traceetl.proto.SpanBatchReader;

final class OpenBatchTest {
  private static final int ENTRIES = 1_024;

  private final OpenBatch batch = new OpenBatch();
  private final RoutedResource resource = new RoutedResource();
  private final SpanView span = new SpanView();
  private final SpanBatchReader reader = new SpanBatchReader();

  @BeforeEach
  void open() {
    Attributes attributes = new Attributes();
    add(attributes, "service.name", "checkout");
    resource.set(attributes);
    batch.open(resource, 0, false);
  }

  private SpanView span(String name, long durationNanos) {
    span.traceIdHigh = 7;
    span.spanId = 8;
    span.startUnixNanos = 1_795_255_028_312_000_000L;
    span.kind = 3;
    span.durationNanos = durationNanos;
    span.name = name.getBytes(UTF_8);
    span.nameLength = span.name.length;
    return span;
  }

  private void read() {
    byte[] body = batch.finish(1, 2, 3, 4);
    assertThat(reader.wrap(body, 0, body.length)).isEqualTo(Rejection.NONE);
  }

  private String text(int entry) {
    return new String(
        reader.buffer(), reader.dictionaryOffset(entry), reader.dictionaryLength(entry), UTF_8);
  }

  /** The index of strings takes up to seven times their bytes. */
  @Test
  void shortestStringsStayWithinTheMemoryBound() {
    PipelineConfig config = PipelineConfig.defaults();
    int strings = 0;
    while (batch.spanBytes() < config.batchBytes()) {
      span.attributes.clear();
      for (int i = 0; i < 200; i++) {
        add(span.attributes, twoBytes(strings++), twoBytes(strings++));
      }
      batch.add(span("GET", 5), false);
    }
    read();

    assertThat(strings).isGreaterThan(6_000);
    assertThat(batch.heldBytes()).isLessThan(config.mostHeldByBatch());
  }

  /** Each has a trace of its own. */
  @Test
  void sampledSpansOfGroupsStayWithinTheMemoryBound() {
    PipelineConfig config = PipelineConfig.defaults();
    int spans = 0;
    while (batch.spanBytes() < config.batchBytes()) {
      span("GET", 5).traceIdLow = ++spans;
      span.samplingThreshold = 1L << 55;
      batch.addUnremarkable(span);
    }
    read();

    assertThat(spans).isGreaterThan(6_000);
    assertThat(batch.heldBytes()).isLessThan(config.mostHeldByBatch());
  }

  private static String twoBytes(int number) {
    return "" + (char) (number / 128) + (char) (number % 128);
  }

  @Test
  void enlargedArraysAreKept() {
    PipelineConfig config = PipelineConfig.defaults();
    for (int i = 0; i < 10; i++) {
      add(span.attributes, "key " + i, ("" + i).repeat(30_000));
    }
    batch.add(span("GET", 5), false);
    read();
    resource.set(new Attributes());
    batch.open(resource, 0, false);

    assertThat(batch.spanBytes()).isZero();
    assertThat(batch.heldBytes()).isGreaterThan(config.mostHeldByBatch());
  }

  @Test
  void equalUnremarkableSpansFormOneGroup() {
    add(span.attributes, "db.system.name", "redis");
    span.statusMessage = "not kept".getBytes(UTF_8);
    span.statusMessageLength = span.statusMessage.length;
    batch.addUnremarkable(span("SET", 5));
    batch.add(span("SET", 1_000), false);
    batch.addUnremarkable(span("GET", 6));
    batch.addUnremarkable(span("SET", 7));
    assertThat(batch.spans()).isEqualTo(4);
    read();

    assertThat(reader.spanCount()).isEqualTo(4);
    assertThat(reader.next()).isTrue();
    assertThat(text(reader.statusMessage())).isEqualTo("not kept");
    assertThat(reader.next()).isFalse();
    assertThat(reader.nextGroup()).isTrue();
    assertThat(text(reader.name())).isEqualTo("SET");
    assertThat(reader.kind()).isEqualTo(3);
    assertThat(text(reader.attributes()[0])).isEqualTo("db.system.name");
    assertThat(text(reader.attributes()[1])).isEqualTo("redis");
    assertThat(reader.groupDurationsNanos()).startsWith(5, 7);
    assertThat(reader.groupSize()).isEqualTo(2);
    assertThat(reader.nextGroup()).isTrue();
    assertThat(text(reader.name())).isEqualTo("GET");
    assertThat(reader.groupSize()).isEqualTo(1);
    assertThat(reader.nextGroup()).isFalse();
    assertThat(reader.rejection()).isEqualTo(Rejection.NONE);
  }

  private void event(String name, String... attributes) {
    byte[] bytes = name.getBytes(UTF_8);
    span.events.add(bytes, 0, bytes.length);
    for (int i = 0; i < attributes.length; i += 2) {
      byte[] key = attributes[i].getBytes(UTF_8);
      byte[] value = attributes[i + 1].getBytes(UTF_8);
      span.events.addAttribute(key, 0, key.length, value, 0, value.length);
    }
  }

  private List<String> events() {
    List<String> events = new ArrayList<>();
    for (int at = 0; at < reader.eventNumbers(); ) {
      StringBuilder event = new StringBuilder(text(reader.events()[at]));
      int end = at + 2 + 2 * reader.events()[at + 1];
      for (at += 2; at < end; at++) {
        event.append(' ').append(text(reader.events()[at]));
      }
      events.add(event.toString());
    }
    return events;
  }

  @Test
  void eventsDistinguishGroups() {
    event("exception", "exception.type", "IOException");
    event("retry");
    event("exception", "exception.type", "KeyError", "n", "3");
    batch.add(span("SET", 1_000), false);
    batch.addUnremarkable(span("SET", 5));
    batch.addUnremarkable(span("SET", 6));
    span.events.clear();
    batch.addUnremarkable(span("SET", 7));
    read();

    List<String> events =
        List.of(
            "exception exception.type IOException",
            "retry",
            "exception exception.type KeyError n 3");
    assertThat(reader.next()).isTrue();
    assertThat(events()).isEqualTo(events);
    assertThat(reader.next()).isFalse();
    assertThat(reader.nextGroup()).isTrue();
    assertThat(events()).isEqualTo(events);
    assertThat(reader.groupSize()).isEqualTo(2);
    assertThat(reader.nextGroup()).isTrue();
    assertThat(events()).isEmpty();
    assertThat(reader.groupSize()).isEqualTo(1);
    assertThat(reader.nextGroup()).isFalse();
    assertThat(reader.rejection()).isEqualTo(Rejection.NONE);
  }

  @Test
  void aBatchIsFullBeforeASpanMayHaveMoreEventsThanFit() {
    for (int i = 0; i < SpanEvents.MAX; i++) {
      event("e");
    }
    int spans = 0;
    for (; !batch.isFull(ENTRIES); spans++) {
      batch.add(span("SET", 5), false);
    }
    read();
    int events = 0;
    while (reader.next()) {
      events += reader.eventNumbers() / 2;
    }
    assertThat(reader.rejection()).isEqualTo(Rejection.NONE);
    assertThat(events).isEqualTo(spans * SpanEvents.MAX);
  }

  @Test
  void aGroupIsOneEntryAndItsSpansCountByTheirBytes() {
    batch.addUnremarkable(span("SET", 5));
    int bytes = batch.spanBytes();
    for (int i = 1; i < ENTRIES; i++) {
      batch.addUnremarkable(span("SET", i));
    }
    assertThat(batch.isFull(ENTRIES)).isFalse();
    assertThat(batch.spanBytes() - bytes).isEqualTo(10 * (ENTRIES - 1));
    for (int i = 1; i < ENTRIES; i++) {
      assertThat(batch.isFull(ENTRIES)).isFalse();
      batch.add(span("SET", i), false);
    }
    assertThat(batch.isFull(ENTRIES)).isTrue();
  }

  @Test
  void everyGroupIsAnEntry() {
    for (int i = 0; i < ENTRIES; i++) {
      assertThat(batch.isFull(ENTRIES)).isFalse();
      batch.addUnremarkable(span("KEY " + i, 5));
    }
    assertThat(batch.isFull(ENTRIES)).isTrue();
  }

  @Test
  void noBatchExceedsTheSpanLimit() {
    for (int i = 0; i < Limits.MAX_SPANS; i++) {
      assertThat(batch.isFull(ENTRIES)).isFalse();
      batch.addUnremarkable(span("SET", i));
    }
    assertThat(batch.isFull(ENTRIES)).isTrue();
    read();
    assertThat(reader.spanCount()).isEqualTo(Limits.MAX_SPANS);
  }

  @Test
  void unremarkableSpansAllocateNothing() {
    byte[][] names = new byte[10][];
    for (int i = 0; i < names.length; i++) {
      names[i] = ("COMMAND" + i).getBytes(UTF_8);
    }
    add(span.attributes, "db.system.name", "redis");
    span("", 0);
    fill(names);
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    long before = threads.getCurrentThreadAllocatedBytes();
    long overhead = threads.getCurrentThreadAllocatedBytes() - before;

    before = threads.getCurrentThreadAllocatedBytes();
    fill(names);
    assertThat(threads.getCurrentThreadAllocatedBytes() - before - overhead).isZero();
  }

  private void fill(byte[][] names) {
    batch.open(resource, 0, false);
    for (int i = 0; i < 20_000; i++) {
      span.name = names[i % names.length];
      span.nameLength = span.name.length;
      span.durationNanos = i;
      batch.addUnremarkable(span);
    }
  }
}
