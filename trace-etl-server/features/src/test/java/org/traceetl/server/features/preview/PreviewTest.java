package org.traceetl.server.features.preview;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.traceetl.proto.Heartbeat;
import org.traceetl.server.config.MeasureConfig;
import org.traceetl.server.config.SeriesConfig;
import org.traceetl.server.config.SeriesConfig.Dimension;
import org.traceetl.server.config.SeriesConfig.From;
import org.traceetl.server.decode.Messages;
import org.traceetl.server.window.QueueId;

/** What the preview shows of groups that a demand made. */
final class PreviewTest {
  private static final int SPANS = 12_800;
  private static final int SAMPLE = 128;

  private final TestBatch batch = new TestBatch(SAMPLE);
  private final SeriesConfig config =
      SeriesConfig.defaults()
          .withDimensions(
              List.of(
                  new Dimension("user", "user", From.SPAN),
                  new Dimension("region", "region", From.SPAN)));
  private final Preview preview = new Preview(config, Messages.SPAN_BATCH, null, 1_000_000);

  private void add() {
    preview.add(batch.message());
  }

  private String printed() {
    StringWriter out = new StringWriter();
    new PreviewTable(preview, new PrintWriter(out, true)).print();
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
    batch.begin("shop", "user", "region");
    for (int i = 0; i < 100; i++) {
      batch.grouped("user", "u" + i % 5, "region", "r" + i % 2);
    }
    batch.sample("user", "u7", "region", "r7");
    add();

    assertThat(line("shop")).isEqualTo("100 1 1 10 5 (2) 2 (5)");
    assertThat(printed()).doesNotContain("~");
  }

  @Test
  void heartbeatsAreNoMessages() {
    batch.begin("shop");
    batch.whole();
    add();
    String before = printed();
    preview.add(new Heartbeat(1, 0, 1, false, "web-1").encode());

    assertThat(printed()).isEqualTo(before);
  }

  @Test
  void valuesThatGroupsLackAreEstimatedFromASample() {
    batch.begin("shop");
    for (int i = 0; i < SPANS; i++) {
      batch.grouped();
      if (i % SAMPLE == 0) {
        batch.sample("user", "u" + i, "region", "r" + i % 5);
      }
    }
    batch.whole("user", "whole", "region", "r0");
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
    batch.begin("shop", "region");
    for (int i = 0; i < SPANS; i++) {
      batch.grouped("region", "r" + i % 3);
      if (i % SAMPLE == 0) {
        batch.sample("user", "u" + i / SAMPLE % 4, "region", "r" + i % 3);
      }
    }
    add();

    assertThat(line("shop")).isEqualTo("12800 1 1 ~12 ~4 (3) 3 (~4)");
    assertThat(printed()).contains("in groups without user, and 100 of them");
  }

  @Test
  void missingSampleIsNamed() {
    batch.begin("shop");
    batch.grouped();
    batch.grouped();
    add();

    assertThat(line("shop")).isEqualTo("2 1 1 ~1 ~0 (~1) ~0 (~1)");
    assertThat(printed())
        .contains("agents sent 2 spans in groups without user, region, and 0 of them also whole.")
        .contains("applications without a whole one: 1.");
  }

  @Test
  void keptValuesCountAgainstTheBound() {
    Preview all = new Preview(config, Messages.SPAN_BATCH, null, 100);
    Preview one = Preview.ofApplication("shop", config, List.of(), Messages.SPAN_BATCH, 100);
    batch.begin("shop");
    for (int i = 0; i < 15; i++) {
      batch.whole("user", "u" + i);
    }
    byte[] message = batch.message();

    all.add(message);
    one.add(new QueueId("a", 0), message);

    assertThat(all.isFull()).isFalse();
    assertThat(one.isFull()).isTrue();
  }

  @Test
  void valuesOfAMeasureCountAgainstTheBoundAlsoIfAnotherLacksItsAttribute() {
    Preview measured =
        Preview.ofApplication(
            "shop",
            config,
            List.of(durations("model"), durations("absent")),
            Messages.SPAN_BATCH,
            100);
    Preview without = Preview.ofApplication("shop", config, List.of(), Messages.SPAN_BATCH, 100);
    batch.begin("shop", "model");
    for (int i = 0; i < 60; i++) {
      batch.grouped("model", "m" + i);
    }
    byte[] message = batch.message();

    measured.add(new QueueId("a", 0), message);
    without.add(new QueueId("a", 0), message);

    assertThat(without.isFull()).isFalse();
    assertThat(measured.isFull()).isTrue();
  }

  private static MeasureConfig durations(String attribute) {
    return new MeasureConfig(
        attribute + ".duration",
        null,
        null,
        null,
        null,
        null,
        null,
        List.of(attribute),
        List.of(new Dimension(attribute, null, null)),
        null,
        List.of(0.1, 1.0));
  }

  @Test
  void damagedSampleIsIgnored() {
    batch.begin("shop");
    batch.grouped();
    batch.sample("user", "u");
    byte[] message = batch.message();
    int kind = message.length - 1;
    while (message[kind - 1] != 0x13 || message[kind] != 2) {
      kind--;
    }
    message[kind] = 6;
    preview.add(message);
    assertThat(line("shop")).startsWith("1 1 1 ~");
  }
}
