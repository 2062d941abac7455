package org.traceetl.server.series;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.traceetl.proto.LearntNames;
import org.traceetl.proto.NameRule;
import org.traceetl.proto.NameRules;
import org.traceetl.server.config.TemplatesConfig;

class SpanNamesTest {
  private static final int MAX_MATCHES = 4_096;

  private final SpanNames names = newNames("job (.*)", "job {name}");

  private static SpanNames newNames(String pattern, String template) {
    NamePatterns patterns =
        new NamePatterns(List.of(new TemplatesConfig.Rule("*", pattern, template)));
    return new SpanNames(patterns, true, 1_024, () -> LearntNames.NONE);
  }

  private static String resolve(SpanNames names, int entry, String name) {
    byte[] bytes = name.getBytes(UTF_8);
    names.resolve(entry, bytes, 0, bytes.length);
    return new String(names.buffer(), names.offset(), names.length(), UTF_8);
  }

  @Test
  void patternsAreTriedOnABoundedNumberOfNamesOfABatch() {
    String filler = "x".repeat(28); // name and answer are 64 bytes and 10
    names.nextBatch("shop", MAX_MATCHES);
    int matched = 0;
    for (int i = 0; i < MAX_MATCHES; i++) {
      matched += resolve(names, i, "job " + filler + i).equals("job {name}") ? 1 : 0;
    }

    assertThat(matched).isEqualTo((1 << 18) / (64 + 10) + 1);
    assertThat(names.unmatched()).isEqualTo(MAX_MATCHES - matched);
    assertThat(resolve(names, MAX_MATCHES - 1, "job " + filler + "123456"))
        .as("once said, it is so for the batch")
        .isEqualTo("job " + filler + "{id}");
    assertThat(names.unmatched()).isEqualTo(MAX_MATCHES - matched);
    names.nextBatch("shop", MAX_MATCHES);
    assertThat(names.unmatched()).isZero();
    assertThat(resolve(names, 0, "job " + filler + (MAX_MATCHES - 1))).isEqualTo("job {name}");
  }

  @Test
  void longNamesAreMatchedOnceABatch() {
    names.nextBatch("shop", 1);
    String name = "job " + "x".repeat(1_000);
    for (int i = 0; i < 10_000; i++) {
      assertThat(resolve(names, 0, name)).isEqualTo("job {name}");
    }
    assertThat(names.unmatched()).isZero();
  }

  @Test
  void whatAPatternMakesOfANameIsBounded() {
    SpanNames doubling = newNames("(.*)", "$1$1$1$1");
    doubling.nextBatch("shop", 1);

    assertThat(resolve(doubling, 0, "x".repeat(1_000))).hasSize(1_024);
  }

  @Test
  void applicationsWithTheSameNamesKeepWhatWasSaidToEach() {
    byte[][] same = new byte[10][];
    for (int i = 0; i < same.length; i++) {
      same[i] = ("job " + i).getBytes(UTF_8);
    }
    Runnable round =
        () -> {
          for (int application = 0; application < 2; application++) {
            names.nextBatch(application == 0 ? "shop" : "bank", same.length);
            for (int i = 0; i < same.length; i++) {
              names.resolve(i, same[i], 0, same[i].length);
            }
          }
        };
    for (int i = 0; i < 1_000; i++) {
      round.run();
    }
    allocatedBytes(round);

    assertThat(allocatedBytes(round)).isEqualTo(allocatedBytes(() -> {}));
  }

  @Test
  void namesAreJoinedByWhatIsLearntBehindPatternsAndIdentifiers() {
    AtomicReference<LearntNames> learnt = new AtomicReference<>(LearntNames.NONE);
    NamePatterns patterns =
        new NamePatterns(
            List.of(new TemplatesConfig.Rule("*", "/users/root/.*", "/users/x/{any}")));
    SpanNames joined = new SpanNames(patterns, true, 1_024, learnt::get);
    joined.nextBatch("shop", 9);
    learnt.set(
        new LearntNames(
            1, 1, Map.of("shop", new NameRules(List.of(new NameRule("/users/", 1, 501, 1))))));
    assertThat(resolve(joined, 0, "/users/jane/42")).isEqualTo("/users/jane/{id}");
    joined.nextBatch("shop", 9);

    assertThat(resolve(joined, 0, "/users/jane/42")).isEqualTo("/users/{*}/{id}");
    assertThat(resolve(joined, 1, "/users/42/cart")).isEqualTo("/users/{id}/cart");
    assertThat(resolve(joined, 2, "/users/jane")).isEqualTo("/users/jane");
    assertThat(resolve(joined, 3, "/users/root/cart")).isEqualTo("/users/x/{any}");
    joined.nextBatch("bank", 9);
    assertThat(resolve(joined, 0, "/users/jane/cart")).isEqualTo("/users/jane/cart");
    SpanNames asTheyAre = new SpanNames(patterns, false, 1_024, learnt::get);
    asTheyAre.nextBatch("shop", 9);
    assertThat(resolve(asTheyAre, 0, "/users/jane/42")).isEqualTo("/users/jane/42");
  }

  private static long allocatedBytes(Runnable work) {
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    long before = threads.getCurrentThreadAllocatedBytes();
    work.run();
    return threads.getCurrentThreadAllocatedBytes() - before;
  }
}
