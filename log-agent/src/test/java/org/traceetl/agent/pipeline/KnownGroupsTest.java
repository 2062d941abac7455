package org.traceetl.agent.pipeline;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.traceetl.agent.flow.SpanView;

final class KnownGroupsTest {
  private static final int SPANS = 1_000_000;

  private final KnownGroups groups = new KnownGroups();
  private final RoutedResource resource = resource();

  private static RoutedResource resource() {
    return new RoutedResource().tooLarge(null);
  }

  @Test
  void fewSpansAreLookedForIfNoneIsFound() {
    assertThat(lookedFor()).isBetween(SPANS / KnownGroups.PAUSE, SPANS / 10);
  }

  @Test
  void eachResourceHasItsOwnMisses() {
    lookedFor();
    assertThat(groups.isWorth(resource())).isTrue();
  }

  /** Returns how many spans, each of a new group, are looked for. */
  private int lookedFor() {
    SpanView span = new SpanView();
    int lookedFor = 0;
    for (int i = 0; i < SPANS; i++) {
      span.name = ("GET /" + i).getBytes(UTF_8);
      span.nameLength = span.name.length;
      if (groups.isWorth(resource)) {
        lookedFor++;
        assertThat(groups.add(span, resource)).isNull();
      }
    }
    return lookedFor;
  }
}
