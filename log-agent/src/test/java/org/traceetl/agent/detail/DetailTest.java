package org.traceetl.agent.detail;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.traceetl.agent.flow.TestAttributes.add;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.traceetl.agent.config.DetailConfig;
import org.traceetl.agent.config.DetailConfig.Rule;
import org.traceetl.agent.flow.Attributes;
import org.traceetl.agent.flow.SpanView;
import org.traceetl.proto.Demand;
import org.traceetl.proto.Demand.Part;
import org.traceetl.proto.Demand.SlowRule;

final class DetailTest {
  private static final DetailConfig BY_DEMAND =
      new DetailConfig(DetailConfig.Detail.DEMAND, List.of());

  @Test
  void theFirstRuleThatMatchesApplies() {
    DetailConfig config =
        new DetailConfig(
            DetailConfig.Detail.FULL,
            List.of(
                new Rule("batch-import", DetailConfig.Detail.FULL),
                new Rule("batch-*", DetailConfig.Detail.DEMAND)));
    Detail detail = new Detail(config, demand(part(List.of("k"), List.of(), false)));

    assertThat(of(detail, "batch-import")).isNull();
    assertThat(of(detail, "batch-export")).isNotNull();
    assertThat(of(detail, "checkout")).isNull();
  }

  @Test
  void sizesAreNeededByTheDemandWhateverTheDetail() {
    Part sizes = new Part(1, 5, false, 15_000, List.of(), List.of(), 0, List.of(), Demand.SIZES);
    DetailConfig full = new DetailConfig(DetailConfig.Detail.FULL, List.of());

    assertThat(new Detail(BY_DEMAND, demand(sizes)).needsSizes()).isTrue();
    assertThat(new Detail(full, demand(sizes)).needsSizes()).isTrue();
    assertThat(new Detail(full, Demand.NONE).needsSizes()).isFalse();
    assertThat(Detail.FULL.needsSizes()).isFalse();
  }

  @Test
  void withoutADemandAllIsFull() {
    assertThat(of(new Detail(BY_DEMAND, Demand.NONE), "a")).isNull();
    assertThat(of(Detail.FULL, "a")).isNull();
  }

  @Test
  void applicationsThatServersWantInFullAreFull() {
    Part full =
        new Part(1, 5, false, 15_000, List.of("k"), List.of(), 1_000, List.of("shop-*", "cart"));
    Detail detail = new Detail(BY_DEMAND, demand(full));
    assertThat(of(detail, "shop-eu")).isNull();
    assertThat(of(detail, "cart")).isNull();
    assertThat(of(detail, "checkout")).isNotNull();

    Demand everything =
        new Demand(
            9,
            1,
            Map.of(
                "a", part(List.of("k"), List.of(), false), "b", part(List.of(), List.of(), true)));
    assertThat(of(new Detail(BY_DEMAND, everything), "checkout")).isNull();
  }

  @Test
  void partsAreMerged() {
    Part one = new Part(1, 5, false, 15_000, List.of("b", "a"), List.of(), 1_000_000, List.of());
    Part other =
        new Part(
            1,
            8,
            false,
            5_000,
            List.of("c", "a"),
            List.of(new SlowRule("check*", 1 << 3, 500), new SlowRule("*", 0, 2_000_000)),
            7_000_000,
            List.of());
    Detail detail = new Detail(BY_DEMAND, new Demand(9, 1, Map.of("x", one, "y", other)));

    DemandedDetail demanded = of(detail, "checkout");
    assertThat(demanded.keys().stream().map(key -> new String(key, UTF_8)))
        .containsExactly("a", "b", "c");
    assertThat(demanded.version()).isEqualTo(8);
    assertThat(demanded.exemplarIntervalNanos()).isEqualTo(5_000_000_000L);
    assertThat(demanded.isWhole(span(3, 0, 499))).isFalse();
    assertThat(demanded.isWhole(span(3, 0, 500))).isTrue();
    assertThat(demanded.isWhole(span(2, 0, 999_999))).isFalse();
    assertThat(demanded.isWhole(span(2, 0, 1_000_000))).isTrue();
    assertThat(demanded.isWhole(span(2, 1, 0))).isFalse();
    assertThat(demanded.isWhole(span(2, 2, 0))).isTrue();
    assertThat(of(detail, "cart").isWhole(span(3, 0, 500))).isFalse();
    // Thousands of resources share one set.
    assertThat(of(detail, "cart").keys()).isSameAs(demanded.keys());
  }

  @Test
  void seriesDifferByDemandedAttributesOnly() {
    DemandedDetail demanded =
        of(new Detail(BY_DEMAND, demand(part(List.of("k", "l"), List.of(), false))), "a");
    long hash = demanded.hash(1, attributes("k", "v", "other", "1"), false);

    assertThat(demanded.hash(1, attributes("other", "2", "k", "v"), false)).isEqualTo(hash);
    assertThat(demanded.hash(1, attributes("k", "v"), true)).isEqualTo(hash);
    assertThat(
            List.of(
                demanded.hash(2, attributes("k", "v"), false),
                demanded.hash(1, attributes("k", "w"), false),
                demanded.hash(1, attributes("l", "v"), false),
                demanded.hash(1, attributes("k", ""), false),
                demanded.hash(1, attributes(), false)))
        .doesNotContain(hash)
        .doesNotHaveDuplicates();
  }

  private static Attributes attributes(String... texts) {
    Attributes attributes = new Attributes();
    for (int i = 0; i < texts.length; i += 2) {
      add(attributes, texts[i], texts[i + 1]);
    }
    return attributes;
  }

  private static SpanView span(int kind, int status, long durationNanos) {
    SpanView span = new SpanView();
    span.kind = kind;
    span.status = status;
    span.durationNanos = durationNanos;
    return span;
  }

  private static Part part(List<String> keys, List<SlowRule> rules, boolean everything) {
    return new Part(1, 5, everything, 15_000, keys, rules, 1_000_000, List.of());
  }

  private static Demand demand(Part part) {
    return new Demand(9, 1, Map.of("a", part));
  }

  private static DemandedDetail of(Detail detail, String application) {
    byte[] name = application.getBytes(UTF_8);
    return detail.of(name, 0, name.length);
  }
}
