package org.traceetl.perf.bench.jmh;

import java.util.List;
import java.util.Map;
import org.apache.thrift.TDeserializer;
import org.apache.thrift.TException;
import org.apache.thrift.protocol.TCompactProtocol;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Setup;
import org.traceetl.perf.bench.load.OzheraStream;
import org.traceetl.proto.OzheraSpanReader;
import org.traceetl.proto.thrift.ozhera.TSpanData;
import org.traceetl.server.binding.ServerConfig;
import org.traceetl.server.config.MetricsConfig;
import org.traceetl.server.decode.BatchDecoder;
import org.traceetl.server.decode.Messages;
import org.traceetl.server.decode.SpanRules;
import org.traceetl.server.ozhera.OzheraConfig;
import org.traceetl.server.ozhera.OzheraProfile;
import org.traceetl.server.ozhera.OzheraRules;
import org.traceetl.server.ozhera.OzheraSeries;

/**
 * Reads an OzHera span with the cursor, with the server's decoder (texts, columns, profile {@code
 * ozhera}), and with OzHera's generated class and Thrift's TDeserializer; time per span.
 */
public class OzheraDecodeBenchmark extends StepBenchmark {
  private static final int SPANS = 4_096;

  private final List<byte[]> spans =
      new OzheraStream(1, 100).spans(SPANS).stream().map(OzheraStream.Span::message).toList();
  private final OzheraSpanReader reader = new OzheraSpanReader();
  private final BatchDecoder decoder =
      new BatchDecoder(SpanRules.of(List.of(), List.of()), null, Messages.of("ozhera"));
  private BatchDecoder mapped;
  private TDeserializer deserializer;
  private int next;

  @Setup
  public void setUp() throws TException {
    deserializer = new TDeserializer(new TCompactProtocol.Factory());
    ServerConfig config =
        new ServerConfig(
            null,
            null,
            null,
            null,
            null,
            null,
            new MetricsConfig(new OzheraProfile(), null, null, null, null, null, null),
            null,
            Map.of("ozhera", new OzheraConfig(null, null, null, List.of("prometheus"), null)),
            null,
            null,
            null,
            null,
            null,
            null,
            null);
    mapped =
        new BatchDecoder(
            SpanRules.of(config.series().dimensions(), List.of()),
            new OzheraSeries(OzheraRules::defaults).newMapping(),
            Messages.of("ozhera"));
  }

  private byte[] message() {
    return spans.get(next++ & (SPANS - 1));
  }

  @Benchmark
  public long cursor() {
    byte[] message = message();
    reader.read(message, 0, message.length);
    return reader.durationNanos() + reader.attributes().count();
  }

  @Benchmark
  public int decoded() {
    byte[] message = message();
    decoder.decode(message, 0, message.length);
    return decoder.columns().attributeCount(0);
  }

  @Benchmark
  public int decodedAndMapped() {
    byte[] message = message();
    mapped.decode(message, 0, message.length);
    return mapped.columns().name(0);
  }

  @Benchmark
  public TSpanData generatedClass() throws TException {
    TSpanData read = new TSpanData();
    deserializer.deserialize(read, message());
    return read;
  }
}
