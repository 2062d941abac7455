package org.traceetl.agent;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.traceetl.agent.config.ConfigReader;

final class MemoryBoundsTest {
  private static final long MIB = 1L << 20;

  @Test
  void theDefaultsFitIntoTheMemoryThatIsShipped() throws Exception {
    String options = Files.readString(Path.of("..", "deploy", "jvm", "log-agent.options"));

    assertThat(
            bounds("")
                .fit(mebibytes(options, "-Xmx"), mebibytes(options, "-XX:MaxDirectMemorySize=")))
        .as(
            bounds("")
                .describe(
                    mebibytes(options, "-Xmx"), mebibytes(options, "-XX:MaxDirectMemorySize=")))
        .isTrue();
  }

  @Test
  void higherLimitsRaiseTheBounds() throws Exception {
    MemoryBounds usual = bounds("");
    assertThat(usual.fit(usual.heapBytes(), usual.directBytes())).isTrue();
    assertThat(usual.fit(usual.heapBytes() - 1, usual.directBytes())).isFalse();
    assertThat(usual.fit(usual.heapBytes(), usual.directBytes() - 1)).isFalse();

    MemoryBounds more = bounds("pipeline: {max-bytes-in-flight: 134217728}");
    assertThat(more.heapBytes() - usual.heapBytes()).isEqualTo(3 * 64 * MIB);
    assertThat(more.directBytes() - usual.directBytes()).isEqualTo(3 * 64 * MIB);
    assertThat(bounds("otlp: {max-connections: 2048}").heapBytes())
        .isGreaterThan(usual.heapBytes());
    assertThat(bounds("{otlp: {enabled: false}, files: {paths: [/x]}}").heapBytes())
        .isLessThan(usual.heapBytes());
    MemoryBounds forwarding = bounds("forward: {endpoints: [{name: a, url: 'http://x'}]}");
    // A request of the largest size on its way to the disk, one that is being encoded, and one on
    // its way to the endpoint.
    assertThat(forwarding.heapBytes() - usual.heapBytes()).isEqualTo((20 + 6 + 16 + 2) * MIB);
    MemoryBounds keeping =
        bounds("forward: {keep: {enabled: true}, endpoints: [{name: a, url: 'http://x'}]}");
    assertThat(keeping.heapBytes() - forwarding.heapBytes()).isEqualTo((3 * 16 + 8) * MIB);
    assertThat(bounds("telemetry: {enabled: false}").heapBytes()).isLessThan(usual.heapBytes());
  }

  @Test
  void sumIsLoggedInOneLine() throws Exception {
    assertThat(bounds("").describe(512 * MIB, 320 * MIB))
        .matches(
            "Memory: with all stages at their limits, the agent uses \\d+ of 512 MiB of heap and"
                + " \\d+ of 320 MiB of direct memory");
  }

  /** The manual lists each stage with its default. */
  @Test
  void manualListsEachStage() throws Exception {
    String manual = Files.readString(Path.of("..", "docs", "install.md"));
    for (MemoryBounds.Stage stage : bounds("").stages()) {
      assertThat(manual)
          .contains(
              "| " + stage.name() + " |" + cell(stage.heapBytes()) + cell(stage.directBytes()));
    }
    assertThat(manual)
        .contains("| in all |" + cell(bounds("").heapBytes()) + cell(bounds("").directBytes()));
  }

  private static String cell(long bytes) {
    return bytes == 0 ? " |" : " " + Math.ceilDiv(bytes, MIB) + " |";
  }

  private static MemoryBounds bounds(String yaml) throws Exception {
    return MemoryBounds.of(ConfigReader.read(yaml, Map.of()).config());
  }

  private static long mebibytes(String options, String option) {
    Matcher value = Pattern.compile("(?m)^" + Pattern.quote(option) + "(\\d+)m$").matcher(options);
    assertThat(value.find()).isTrue();
    return Long.parseLong(value.group(1)) * MIB;
  }
}
