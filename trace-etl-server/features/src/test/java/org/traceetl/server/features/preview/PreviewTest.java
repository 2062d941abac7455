package org.traceetl.server.features.preview;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.traceetl.proto.Heartbeat;
import org.traceetl.proto.SpanBatchWriter;
import org.traceetl.server.config.SeriesConfig;
import org.traceetl.server.config.SeriesConfig.Dimension;
import org.traceetl.server.config.SeriesConfig.From;
import org.traceetl.server.decode.Messages;

/** What the preview shows of groups that a demand made. */
final class PreviewTest {
  private static final int SPANS = 12_800;
  private static final int SAMPLE = 128;

  private final SpanBatchWriter writer = new SpanBatchWriter();
  private final Preview preview =
      new Preview(
          SeriesConfig.defaults()
              .withDimensions(
                  List.of(
                      new Dimension("user", "user", From.SPAN),
                      new Dimension("region", "region", From.SPAN))),
          Messages.SPAN_BATCH,
          null,
          1_000_000);

  private void begin(String... demanded) {
    writer.begin();
    writer.application(intern("shop"));
    writer.demand(7);
    for (String key : demanded) {
      writer.groupKey(intern(key));
    }
    writer.sampleThreshold((SAMPLE - 1L << 56) / SAMPLE);
  }

  private void grouped(String... attributes) {
    writer.startGroupedSpan(intern("GET /"), 2, 0, 5, 0);
    end(attributes);
  }

  private void whole(String... attributes) {
    writer.startSpan(1, 2, 3, 0, intern("GET /"), 2, 0, 1_000, 5, 0);
    end(attributes);
  }

  private void sample(String... attributes) {
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

  private void add() {
    preview.add(message());
  }

  private byte[] message() {
    int length = writer.finish(1, 0, 1, 0);
    return Arrays.copyOf(writer.buffer(), length);
  }

  private String printed() {
    StringWriter out = new StringWriter();
    preview.print(new PrintWriter(out, true));
    return out.toString();
  }

  private String line(String application) {
    return printed()
        .lines()
        .filter(line -> line.startsWith(application + " "))
        .map(line -> line.substring(application.length()).strip().replaceAll(" +", " "))
        .findFirst()
        .orElseThrow(() -> new AssertionError(printed()));
  }

  @Test
  void groupsWithAllDimensionsAreExact() {
    begin("user", "region");
    for (int i = 0; i < 100; i++) {
      grouped("user", "u" + i % 5, "region", "r" + i % 2);
    }
    sample("user", "u7", "region", "r7");
    add();

    assertThat(line("shop")).isEqualTo("100 1 1 10 5 (2) 2 (5)");
    assertThat(printed()).doesNotContain("~");
  }

  @Test
  void heartbeatsAreNoMessages() {
    begin();
    whole();
    add();
    String before = printed();
    preview.add(new Heartbeat(1, 0, 1, false, "web-1").encode());

    assertThat(printed()).isEqualTo(before);
  }

  @Test
  void valuesThatGroupsLackAreEstimatedFromASample() {
    begin();
    for (int i = 0; i < SPANS; i++) {
      grouped();
      if (i % SAMPLE == 0) {
        sample("user", "u" + i, "region", "r" + i % 5);
      }
    }
    whole("user", "whole", "region", "r0");
    add();

    // 100 users of one sample each, times the square root of 128.
    assertThat(line("shop")).isEqualTo("12801 1 1 ~1132 ~1132 (~5) ~5 (~1132)");
    assertThat(line("all")).isEqualTo("12801 1 1 ~1132 ~1132 (~5) ~5 (~1132)");
    assertThat(printed())
        .contains(
            "~ from a sample: agents sent 12800 spans in groups without user, region, and 100 of"
                + " them also whole.")
        .doesNotContain("Too few keys");
  }

  @Test
  void dimensionsThatGroupsHaveAreExact() {
    begin("region");
    for (int i = 0; i < SPANS; i++) {
      grouped("region", "r" + i % 3);
      if (i % SAMPLE == 0) {
        sample("user", "u" + i / SAMPLE % 4, "region", "r" + i % 3);
      }
    }
    add();

    assertThat(line("shop")).isEqualTo("12800 1 1 ~12 ~4 (3) 3 (~4)");
    assertThat(printed()).contains("in groups without user, and 100 of them");
  }

  @Test
  void missingSampleIsNamed() {
    begin();
    grouped();
    grouped();
    add();

    assertThat(line("shop")).isEqualTo("2 1 1 ~0 ~0 (~0) ~0 (~0)");
    assertThat(printed())
        .contains("agents sent 2 spans in groups without user, region, and 0 of them also whole.")
        .contains("applications without a whole one: 1.");
  }

  @Test
  void damagedSampleIsIgnored() {
    begin();
    grouped();
    sample("user", "u");
    byte[] message = message();
    int kind = message.length - 1;
    while (message[kind - 1] != 0x13 || message[kind] != 2) {
      kind--;
    }
    message[kind] = 6;
    preview.add(message);
    assertThat(line("shop")).startsWith("1 1 1 ~");
  }
}
