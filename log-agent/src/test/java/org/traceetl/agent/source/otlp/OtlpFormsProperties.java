package org.traceetl.agent.source.otlp;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.traceetl.agent.flow.Attributes;
import org.traceetl.agent.flow.KeySet;
import org.traceetl.agent.flow.MalformedPayloadException;
import org.traceetl.agent.flow.SpanSink;
import org.traceetl.agent.flow.SpanView;

/**
 * Compares the code for the form that exporters write with the general code, which reads the same
 * fields if their tags have two bytes.
 */
class OtlpFormsProperties {
  /** Which attributes are read. */
  private enum Reading {
    ALL,
    WANTED,
    /** The wanted ones first, and the others skipped only if they are well-formed. */
    FIRST
  }

  @Property(tries = 3_000)
  void theUsualFormGivesWhatTheGeneralOneGives(@ForAll long seed) {
    assertThat(decoded(seed, false, true, Reading.ALL))
        .isEqualTo(decoded(seed, true, true, Reading.ALL));
  }

  @Property(tries = 3_000)
  void theUsualFormSkipsWhatTheGeneralOneSkips(@ForAll long seed) {
    assertThat(decoded(seed, false, false, Reading.WANTED))
        .isEqualTo(decoded(seed, true, false, Reading.WANTED));
  }

  @Property(tries = 3_000)
  void theUsualFormFirstSkipsWhatTheGeneralOneSkips(@ForAll long seed) {
    assertThat(decoded(seed, false, true, Reading.FIRST))
        .isEqualTo(decoded(seed, true, true, Reading.FIRST));
  }

  private static List<String> decoded(
      long seed, boolean longTags, boolean damagedValues, Reading reading) {
    OtlpProtobufDecoder decoder = new OtlpProtobufDecoder();
    Recorder recorder = new Recorder(reading, new Random(~seed));
    byte[] request = new RandomOtlp(seed, longTags, damagedValues).request();
    try {
      decoder.decode(request, recorder);
    } catch (MalformedPayloadException e) {
      recorder.texts.add("malformed");
    }
    recorder.texts.add("left out " + decoder.droppedAttributes());
    return recorder.texts;
  }

  /** Writes spans as text, with a character for each byte. The keys change between resources. */
  private static final class Recorder implements SpanSink {
    private final List<String> texts = new ArrayList<>();
    private final Reading reading;
    private final Random random;
    private KeySet keys;

    Recorder(Reading reading, Random random) {
      this.reading = reading;
      this.random = random;
    }

    @Override
    public void resource(Attributes attributes) {
      texts.add("resource " + text(attributes));
      keys = new KeySet(RandomOtlp.keys(random));
    }

    @Override
    public KeySet wantedKeys() {
      return reading == Reading.WANTED ? keys : null;
    }

    @Override
    public KeySet firstKeys() {
      return reading == Reading.FIRST ? keys : null;
    }

    @Override
    public boolean span(SpanView span) {
      texts.add(
          "%x%x %x %x %s %d %d %d %d %s %d %s %s"
              .formatted(
                  span.traceIdHigh,
                  span.traceIdLow,
                  span.spanId,
                  span.parentSpanId,
                  new String(span.name, span.nameOffset, span.nameLength, ISO_8859_1),
                  span.kind,
                  span.status,
                  span.startUnixNanos,
                  span.durationNanos,
                  new String(
                      span.statusMessage,
                      span.statusMessageOffset,
                      span.statusMessageLength,
                      ISO_8859_1),
                  span.attributesNotWanted,
                  text(span.attributes),
                  IntStream.range(0, span.links.size())
                      .mapToObj(link -> Long.toHexString(span.links.spanId(link)))
                      .toList()));
      return true;
    }

    @Override
    public void rejected(String reason) {
      texts.add(reason);
    }

    private static String text(Attributes attributes) {
      StringBuilder text = new StringBuilder();
      for (int i = 0; i < attributes.size(); i++) {
        text.append(
                new String(
                    attributes.key(i),
                    attributes.keyOffset(i),
                    attributes.keyLength(i),
                    ISO_8859_1))
            .append('=')
            .append(
                new String(
                    attributes.value(i),
                    attributes.valueOffset(i),
                    attributes.valueLength(i),
                    ISO_8859_1))
            .append(';');
      }
      return text.append(attributes.textBytes()).toString();
    }
  }
}
