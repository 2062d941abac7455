package org.traceetl.standalone;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.common.message.Message;
import org.apache.rocketmq.common.message.MessageQueue;
import org.traceetl.proto.thrift.ozhera.TAttributes;
import org.traceetl.proto.thrift.ozhera.TExtra;
import org.traceetl.proto.thrift.ozhera.TResource;
import org.traceetl.proto.thrift.ozhera.TSpanData;
import org.traceetl.testkit.OzheraMessages;

/** Publishes spans as OzHera's agents do, one per message. Confined to one thread. */
final class OzheraSender implements AutoCloseable {
  /** When the spans end, nanoseconds since 1970: today, because old documents may be deleted. */
  static final long END_NANOS =
      TimeUnit.MILLISECONDS.toNanos(System.currentTimeMillis()) / 1_000_000_000L * 1_000_000_000L;

  private static final AtomicLong NUMBERS = new AtomicLong();

  private final String topic;
  private final DefaultMQProducer producer = new DefaultMQProducer();
  private final List<MessageQueue> queues;

  private OzheraSender(String topic) throws Exception {
    this.topic = topic;
    producer.setProducerGroup("hera-" + topic);
    producer.setInstanceName("hera-" + topic);
    producer.setNamesrvAddr(SharedBroker.get().namesrvAddress());
    producer.start();
    queues = producer.fetchPublishMessageQueues(topic);
  }

  static OzheraSender to(String topic) throws Exception {
    return new OzheraSender(topic);
  }

  /** Returns a span with this duration and its own trace. */
  static TSpanData span(String application, String name, Duration duration) {
    long number = NUMBERS.incrementAndGet();
    TAttributes resource =
        OzheraMessages.attributes("service.env", "staging", "service.env.id", "77");
    return new TSpanData()
        .setTraceId(String.format("%016x%016x", 0xabcL, number))
        .setSpanId(String.format("%016x", number))
        .setName(name)
        .setStartEpochNanos(END_NANOS - duration.toNanos())
        .setEndEpochNanos(END_NANOS)
        .setExtra(new TExtra().setServiceName(application).setIp("10.1.2.3").setHostname("shop-1"))
        .setResouce(new TResource().setAttributes(resource))
        .setAttributes(new TAttributes());
  }

  /** Returns an HTTP server's span without a failure. */
  static TSpanData http(String application, String method, Duration duration) {
    return with(span(application, method, duration), "span.kind", "server", "http.method", "GET");
  }

  /** Adds attributes as alternating keys and values; a value may be null. */
  static TSpanData with(TSpanData span, Object... keysAndValues) {
    for (int i = 0; i < keysAndValues.length; i += 2) {
      OzheraMessages.put(span.getAttributes(), (String) keysAndValues[i], keysAndValues[i + 1]);
    }
    return span;
  }

  /** Sends spans and waits until the broker has stored them; an application uses one queue. */
  void send(TSpanData... spans) throws Exception {
    for (TSpanData span : spans) {
      String key = "p0" + span.getExtra().getServiceName();
      send(Math.floorMod(key.hashCode(), queues.size()), OzheraMessages.of(span));
    }
  }

  void send(int queue, byte[] message) throws Exception {
    producer.send(new Message(topic, message), queues.get(queue));
  }

  @Override
  public void close() {
    producer.shutdown();
  }
}
