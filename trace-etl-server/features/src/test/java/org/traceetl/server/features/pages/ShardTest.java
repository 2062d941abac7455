package org.traceetl.server.features.pages;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.traceetl.server.http.ParameterRefused;

class ShardTest {
  @Property(tries = 200)
  void eachPartIsInOneShard(@ForAll int part, @ForAll @IntRange(min = 1, max = 64) int of) {
    int shards = 0;
    for (int number = 0; number < of; number++) {
      shards += Shard.ofRequest(number + "/" + of).has(part) ? 1 : 0;
    }
    assertThat(shards).isOne();
  }

  @Test
  void aRequestWithoutAShardReadsTheWholePage() {
    assertThat(Shard.ofRequest((String[]) null)).isEqualTo(Shard.WHOLE);
    assertThat(Shard.ofRequest("0/1")).isEqualTo(Shard.WHOLE);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "/",
        "0",
        "0/",
        "/4",
        "4/4",
        "0/0",
        "1/0",
        "0/65",
        "65/99",
        "-1/4",
        "1/-4",
        "+1/4",
        " 1/4",
        "1/4 ",
        "1/4\n",
        "1/4/4",
        "1.0/4",
        "1/4e1",
        "0x1/4",
        "١/٤",
        "1⁄4",
        "a/b",
        "4294967296/4294967297",
        "000/004",
        "0/4\0"
      })
  void anotherValueIsRefused(String value) {
    assertThatThrownBy(() -> Shard.ofRequest(value))
        .isInstanceOf(ParameterRefused.class)
        .hasMessage(
            "shard = " + value + ": must be i/n, with n from 1 to 64 and i from 0 to n - 1");
  }

  @Test
  void aLongValueIsRefusedWithAShortMessage() {
    assertThatThrownBy(() -> Shard.ofRequest("9".repeat(1_000_000) + "/4"))
        .isInstanceOf(ParameterRefused.class)
        .message()
        .hasSizeLessThan(150)
        .startsWith("shard = 999")
        .contains("…: must be i/n");
  }

  @Test
  void aShardIsGivenOnce() {
    assertThatThrownBy(() -> Shard.ofRequest("0/2", "1/2"))
        .isInstanceOf(ParameterRefused.class)
        .hasMessage("shard: must be given once");
  }
}
