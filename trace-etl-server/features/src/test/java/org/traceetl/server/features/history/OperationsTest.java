package org.traceetl.server.features.history;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.traceetl.server.window.SeriesDefinition;

final class OperationsTest {
  private final Operations operations = new Operations(2, kind -> "kind " + kind);

  private Operation retain(String application, String name, String status) {
    return operations.retain(
        new SeriesDefinition(0, 1, false, Arrays.asList(application, name, "2", status)));
  }

  private static String text(Operation operation) {
    return operation.application + " " + operation.name + " " + operation.kind;
  }

  @Test
  void seriesOfOneNameAndKindAreOneOperation() {
    Operation one = retain("shop", "GET /", "0");

    assertThat(retain("shop", "GET /", "2")).isSameAs(one);
    assertThat(text(one)).isEqualTo("shop GET / kind 2");
    operations.release(one);
    assertThat(retain("shop", "GET /", "1")).isSameAs(one);
  }

  @Test
  void overflowSeriesAreOthers() {
    for (String kind : new String[] {null, "3"}) {
      SeriesDefinition overflow =
          new SeriesDefinition(0, 1, true, Arrays.asList("shop", null, kind, kind));

      assertThat(text(operations.retain(overflow))).isEqualTo("shop _other SPAN_KIND_UNSPECIFIED");
    }
  }

  @Test
  void whatFindsNoRoomCountsAsOther() {
    Operation first = retain("a", "1", "0");
    retain("a", "2", "0");

    assertThat(text(retain("a", "3", "0"))).isEqualTo("a _other SPAN_KIND_UNSPECIFIED");
    assertThat(text(retain("b", "1", "0"))).isEqualTo("b _other SPAN_KIND_UNSPECIFIED");
    Operation rest = retain("c", "1", "0");
    assertThat(text(rest)).isEqualTo("_other _other SPAN_KIND_UNSPECIFIED");
    assertThat(retain("d", "1", "0")).isSameAs(rest);
    assertThat(retain("a", "1", "2")).isSameAs(first);
  }
}
