package org.traceetl.server.decode;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.IntUnaryOperator;
import java.util.stream.IntStream;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.traceetl.proto.Rejection;
import org.traceetl.proto.SpanBatchWriter;
import org.traceetl.proto.thrift.ozhera.TAttributeKey;
import org.traceetl.proto.thrift.ozhera.TAttributeType;
import org.traceetl.proto.thrift.ozhera.TAttributes;
import org.traceetl.proto.thrift.ozhera.TExtra;
import org.traceetl.proto.thrift.ozhera.TKind;
import org.traceetl.proto.thrift.ozhera.TResource;
import org.traceetl.proto.thrift.ozhera.TSpanData;
import org.traceetl.proto.thrift.ozhera.TStatus;
import org.traceetl.proto.thrift.ozhera.TValue;
import org.traceetl.server.config.SeriesConfig.Dimension;
import org.traceetl.server.config.SeriesConfig.From;
import org.traceetl.testkit.OzheraMessages;

/** A span of OzHera as a batch of one. */
final class OzheraSpanTest {
  private static final SpanRules DIMENSIONS =
      SpanRules.of(
          List.of(
              new Dimension("http.status_code", null, From.SPAN),
              new Dimension("ip", null, From.RESOURCE),
              new Dimension("zone", null, From.ANY)),
          List.of());

  private final BatchDecoder decoder = new BatchDecoder(DIMENSIONS, null, Messages.of("ozhera"));

  private static TSpanData span() {
    return new TSpanData()
        .setTraceId("0af7651916cd43dd8448eb211c80319c")
        .setSpanId("b7ad6b7169203331")
        .setName("GET /cart")
        .setKind(TKind.CLIENT)
        .setStatus(TStatus.ERROR)
        .setStartEpochNanos(1_000)
        .setEndEpochNanos(3_500)
        .setAttributes(OzheraMessages.attributes("http.status_code", 500, "peer", "b"))
        .setResouce(new TResource().setAttributes(OzheraMessages.attributes("zone", "z1")))
        .setExtra(new TExtra().setIp("10.0.0.1").setHostname("h1").setServiceName("shop-web"));
  }

  private Rejection decode(TSpanData span) {
    byte[] message = OzheraMessages.of(span);
    return decoder.decode(message, 0, message.length);
  }

  private String text(int text) {
    return decoder.text(text, 1_000);
  }

  private Map<String, String> resource() {
    return texts(
        decoder.resourceAttributeCount(),
        decoder::resourceAttributeKey,
        decoder::resourceAttributeValue);
  }

  private Map<String, String> attributes() {
    return texts(
        decoder.columns().attributeCount(0),
        i -> decoder.columns().attributeKey(0, i),
        i -> decoder.columns().attributeValue(0, i));
  }

  private Map<String, String> texts(int count, IntUnaryOperator key, IntUnaryOperator value) {
    Map<String, String> texts = new TreeMap<>();
    for (int i = 0; i < count; i++) {
      texts.put(text(key.applyAsInt(i)), text(value.applyAsInt(i)));
    }
    return texts;
  }

  @Test
  void allPartsOfASpanAreThere() {
    assertThat(decode(span())).isEqualTo(Rejection.NONE);
    assertThat(decoder.declaredSpans()).isEqualTo(1);
    assertThat(decoder.isNamed()).isFalse();
    assertThat(text(decoder.application())).isEqualTo("shop-web");
    SpanColumns columns = decoder.columns();
    assertThat(columns.size()).isEqualTo(1);
    assertThat(columns.firstGroup()).isEqualTo(1);
    assertThat(columns.traceIdHigh(0)).isEqualTo(0x0af7651916cd43ddL);
    assertThat(columns.traceIdLow(0)).isEqualTo(0x8448eb211c80319cL);
    assertThat(columns.spanId(0)).isEqualTo(0xb7ad6b7169203331L);
    assertThat(text(columns.name(0))).isEqualTo("GET /cart");
    assertThat(columns.kind(0)).isEqualTo(3);
    assertThat(columns.status(0)).isEqualTo(2);
    assertThat(columns.startUnixNanos(0)).isEqualTo(1_000);
    assertThat(columns.durationNanos(0)).isEqualTo(2_500);
    assertThat(columns.samplingThreshold(0)).isZero();
    assertThat(columns.statusMessage(0)).isEqualTo(SpanColumns.NONE);
    assertThat(attributes()).isEqualTo(Map.of("http.status_code", "500", "peer", "b"));
    assertThat(resource()).isEqualTo(Map.of("zone", "z1", "ip", "10.0.0.1", "hostname", "h1"));
    assertThat(text(columns.dimension(0, 0))).isEqualTo("500");
    assertThat(text(columns.dimension(0, 1))).isEqualTo("10.0.0.1");
    assertThat(text(columns.dimension(0, 2))).isEqualTo("z1");
  }

  @Test
  void theAddressBesideTheResourceGoesFirst() {
    TSpanData span = span();
    span.getResouce().setAttributes(OzheraMessages.attributes("ip", "::1"));
    decode(span);
    assertThat(text(decoder.columns().dimension(0, 1))).isEqualTo("10.0.0.1");
    assertThat(decoder.resourceAttributeCount()).isEqualTo(2);
    assertThat(resource()).isEqualTo(Map.of("ip", "10.0.0.1", "hostname", "h1"));

    span.getExtra().unsetIp();
    decode(span);
    assertThat(text(decoder.columns().dimension(0, 1))).isEqualTo("::1");
  }

  @Test
  void theResourcesHostNameGoesFirstUnlessItIsEmpty() {
    TSpanData span = span();
    span.getResouce().setAttributes(OzheraMessages.attributes("hostname", ""));
    decode(span);
    assertThat(resource()).containsEntry("hostname", "h1");
    span.getResouce().setAttributes(OzheraMessages.attributes("hostname", "h2"));
    decode(span);
    assertThat(resource()).containsEntry("hostname", "h2");
  }

  @Test
  void theSpanGoesBeforeItsResource() {
    TSpanData span = span();
    span.setAttributes(OzheraMessages.attributes("zone", "z2"));
    decode(span);
    assertThat(text(decoder.columns().dimension(0, 2))).isEqualTo("z2");
  }

  @Test
  void theApplicationMayBeTheResources() {
    TSpanData span = span();
    span.getExtra().setServiceName("");
    span.getResouce().setAttributes(OzheraMessages.attributes("service.name", "bank"));
    assertThat(decode(span)).isEqualTo(Rejection.NONE);
    assertThat(text(decoder.application())).isEqualTo("bank");
  }

  @Test
  void aSpanOfNoApplicationIsRefused() {
    TSpanData span = span();
    span.unsetExtra();
    assertThat(decode(span)).isEqualTo(Rejection.MISSING_FIELD);
    assertThat(decoder.application()).isNegative();
    assertThat(decoder.declaredSpans()).isEqualTo(1);
    assertThat(decoder.columns().size()).isZero();
  }

  @Property
  void numbersArePrintedAsJavaPrintsThem(
      @ForAll long number, @ForAll double real, @ForAll boolean flag) {
    decode(
        span()
            .setAttributes(
                OzheraMessages.attributes(
                    "long", number,
                    "double", real,
                    "boolean", flag)));
    assertThat(attributes())
        .isEqualTo(
            Map.of(
                "long", String.valueOf(number),
                "double", String.valueOf(real),
                "boolean", String.valueOf(flag)));
  }

  /** A mapping that changes nothing. */
  private record Reads(AttributeKeys keys) implements SpanMapping {
    @Override
    public void map(BatchDecoder batch) {}

    @Override
    public Map<String, String> documentAttributes(BatchDecoder batch, int span, int maxBytes) {
      return Map.of();
    }
  }

  @Test
  void aMappingIsGivenTheAttributesThatItReads() {
    AttributeKeys keys = new AttributeKeys(List.of("peer", "zone"));
    BatchDecoder mapped = new BatchDecoder(DIMENSIONS, new Reads(keys), Messages.of("ozhera"));
    TSpanData span = span();
    span.getExtra().unsetServiceName();
    span.getResouce()
        .setAttributes(
            OzheraMessages.attributes(
                "service.name",
                "bank",
                "ip",
                "::1",
                "zone",
                "z1",
                "telemetry.sdk.language",
                "java"));
    byte[] message = OzheraMessages.of(span);
    assertThat(mapped.decode(message, 0, message.length)).isEqualTo(Rejection.NONE);
    assertThat(mapped.text(mapped.application(), 100)).isEqualTo("bank");
    SpanColumns columns = mapped.columns();
    assertThat(columns.attributeCount(0)).isEqualTo(1);
    assertThat(mapped.text(columns.attributeKey(0, 0), 100)).isEqualTo("peer");
    assertThat(
            IntStream.range(0, mapped.resourceAttributeCount())
                .mapToObj(i -> mapped.text(mapped.resourceAttributeKey(i), 100)))
        .containsExactlyInAnyOrder("service.name", "ip", "zone", "hostname");
    assertThat(columns.dimension(0, 2)).isEqualTo(SpanColumns.NONE);
  }

  @Test
  void attributesWithoutValueAreLeftOut() {
    TAttributes attributes = OzheraMessages.attributes("a", "1", "b", null);
    attributes.addToKeys(new TAttributeKey().setType(TAttributeType.LONG_ARRAY).setValue("c"));
    attributes.addToValues(new TValue().setLongArrayValue(List.of(1L, 2L)));
    decode(span().setAttributes(attributes));
    assertThat(attributes()).isEqualTo(Map.of("a", "1"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"span-batch", "ozhera", "any"})
  void eachTopicHasTheMessagesThatItsConfigurationSays(String configured) {
    Messages messages = Messages.of(configured);
    BatchDecoder either = new BatchDecoder(DIMENSIONS, null, messages);
    SpanBatchWriter writer = new SpanBatchWriter();
    writer.begin();
    writer.application(writer.intern(new byte[] {'a'}, 0, 1));
    byte[] batch = new byte[200];
    int batchLength = writer.finish(1, 2, 3, 4);
    System.arraycopy(writer.buffer(), 0, batch, 7, batchLength);
    byte[] span = OzheraMessages.of(span());
    // More than once, and in turns: nothing of one format may show in the other.
    for (int i = 0; i < 3; i++) {
      assertThat(either.decode(batch, 7, batchLength) == Rejection.NONE)
          .isEqualTo(messages.batches());
      assertThat(either.declaredSpans()).isEqualTo(messages.batches() ? 0 : 1);
      assertThat(either.decode(span, 0, span.length) == Rejection.NONE)
          .isEqualTo(messages.singles() != null);
      assertThat(either.declaredSpans()).isEqualTo(messages.singles() != null ? 1 : 0);
      assertThat(either.decode(span, 0, 0)).isEqualTo(Rejection.TRUNCATED);
    }
  }
}
