package org.traceetl.server.consume.queue;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.Arrays;
import org.traceetl.proto.SpanBatchWriter;

/** Writes a batch as an agent would. */
public final class BatchMessage {
  public static final int SERVER = 2;
  public static final int CLIENT = 3;
  public static final int UNSET = 0;
  public static final int ERROR = 2;

  private final SpanBatchWriter writer = new SpanBatchWriter();
  private long spanId = 1;
  private long trace;
  private boolean spanOpen;

  /** Of the open span, if it goes into a group; 0 for none. */
  private long groupedTrace;

  public BatchMessage(String application) {
    writer.begin();
    writer.application(intern(application));
  }

  private int intern(String text) {
    byte[] bytes = text.getBytes(UTF_8);
    return writer.intern(bytes, 0, bytes.length);
  }

  /** Declares a demand, with the keys of attributes that groups have. */
  BatchMessage demand(long version, String... keys) {
    writer.demand(version);
    for (String key : keys) {
      writer.groupKey(intern(key));
    }
    return this;
  }

  /** Lets the batch have the sizes of spans, before the first span. */
  BatchMessage sizes() {
    writer.keepSizes();
    return this;
  }

  /** Sets the size of the last span. */
  BatchMessage size(long bytes) {
    writer.size(bytes);
    return this;
  }

  BatchMessage resource(String key, String value) {
    writer.resourceAttribute(intern(key), intern(value));
    return this;
  }

  /** Sets the trace of the spans that follow; initially each span has a trace of its own. */
  BatchMessage trace(long id) {
    trace = id;
    return this;
  }

  public BatchMessage span(String name, long durationNanos) {
    return span(name, SERVER, UNSET, durationNanos, 0);
  }

  public BatchMessage span(String name, int kind, int status, long durationNanos, long threshold) {
    endSpan();
    long id = spanId++;
    writer.startSpan(
        7,
        trace == 0 ? id : trace,
        id,
        0,
        intern(name),
        kind,
        status,
        1_700_000_000_000_000_000L,
        durationNanos,
        threshold);
    spanOpen = true;
    return this;
  }

  /** Adds a measured span. */
  BatchMessage grouped(String name, int kind, int status, long durationNanos, long threshold) {
    endSpan();
    writer.startGroupedSpan(intern(name), kind, status, durationNanos, threshold);
    groupedTrace = threshold == 0 ? 0 : trace;
    spanOpen = true;
    return this;
  }

  public BatchMessage attribute(String key, String value) {
    writer.attribute(intern(key), intern(value));
    return this;
  }

  /** Adds an event of the last span, with alternating keys and values of attributes. */
  public BatchMessage event(String name, String... attributes) {
    if (!writer.event(intern(name))) {
      throw new IllegalStateException("no room for events");
    }
    for (int i = 0; i < attributes.length; i += 2) {
      writer.eventAttribute(intern(attributes[i]), intern(attributes[i + 1]));
    }
    return this;
  }

  public BatchMessage message(String text) {
    writer.statusMessage(intern(text));
    return this;
  }

  private void endSpan() {
    if (spanOpen) {
      writer.endSpan();
      if (groupedTrace != 0) {
        writer.traceOfGrouped(7, groupedTrace);
        groupedTrace = 0;
      }
      spanOpen = false;
    }
  }

  /** Returns the message of agent 1, epoch 1 and this sequence. */
  public byte[] message(long sequence) {
    return message(1, 1, sequence);
  }

  public byte[] message(long agent, long epoch, long sequence) {
    endSpan();
    int length = writer.finish(agent, 0, epoch, sequence);
    return Arrays.copyOf(writer.buffer(), length);
  }
}
