package org.traceetl.server.series;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.Size;
import net.jqwik.api.constraints.StringLength;
import org.junit.jupiter.api.Test;

class SymbolTableTest {
  private final SymbolTable symbols = new SymbolTable(1_000, 10_000, 16);

  @Property
  void equalStringsShareASymbolAndOthersDoNot(
      @ForAll @Size(max = 100) List<@StringLength(max = 5) String> strings) {
    SymbolTable table = new SymbolTable(1_000, 10_000, 64);
    Map<String, Integer> model = new HashMap<>();
    for (String string : strings) {
      // An unpaired surrogate has no UTF-8; as bytes it is a question mark.
      String text = new String(string.getBytes(UTF_8), UTF_8);
      int symbol = resolve(table, text);
      assertThat(model.computeIfAbsent(text, t -> symbol)).isEqualTo(symbol);
      assertThat(table.text(symbol)).isEqualTo(text);
    }
    assertThat(table.size()).isEqualTo(model.size());
    assertThat(model.values()).doesNotHaveDuplicates();
  }

  @Test
  void symbolsThatNobodyUsesAreForgotten() {
    int kept = resolve(symbols, "kept");
    symbols.retain(kept);
    resolve(symbols, "dropped");
    symbols.sweep();

    assertThat(symbols.size()).isEqualTo(1);
    assertThat(resolve(symbols, "kept")).isEqualTo(kept);

    symbols.release(kept);
    assertThat(symbols.size()).isEqualTo(1);
    symbols.sweep();
    assertThat(symbols.size()).isZero();
  }

  @Test
  void numbersAreUsedAnew() {
    List<Integer> first = new ArrayList<>();
    for (int i = 0; i < 500; i++) {
      first.add(resolve(symbols, "a" + i));
    }
    symbols.sweep();
    List<Integer> second = new ArrayList<>();
    for (int i = 0; i < 500; i++) {
      second.add(resolve(symbols, "b" + i));
    }

    assertThat(second).containsExactlyInAnyOrderElementsOf(first);
  }

  @Test
  void entriesAndBytesAreBounded() {
    SymbolTable few = new SymbolTable(2, 10_000, 16);
    resolve(few, "a");
    resolve(few, "b");
    assertThat(resolve(few, "c")).isEqualTo(SymbolTable.FULL);
    assertThat(resolve(few, "a")).isNotNegative();

    SymbolTable small = new SymbolTable(100, 10, 16);
    resolve(small, "12345678");
    assertThat(resolve(small, "abc")).isEqualTo(SymbolTable.FULL);
    assertThat(resolve(small, "ab")).isNotNegative();
  }

  @Test
  void longStringsAreCutBetweenCharacters() {
    assertThat(symbols.text(resolve(symbols, "0123456789abcdef-and-more")))
        .isEqualTo("0123456789abcdef");
    assertThat(symbols.text(resolve(symbols, "0123456789abcd€uro"))).isEqualTo("0123456789abcd");
  }

  @Test
  void malformedUtf8SharesTheSymbolOfItsRepairedText() {
    byte[] malformed = {'a', (byte) 0xFF, 'b'};
    int symbol = symbols.resolve(malformed, 0, malformed.length);

    assertThat(symbols.text(symbol)).isEqualTo("a\uFFFDb");
    assertThat(resolve(symbols, "a\uFFFDb")).isEqualTo(symbol);
    assertThat(symbols.resolve(malformed, 0, malformed.length)).isEqualTo(symbol);
    assertThat(symbols.size()).isEqualTo(1);
  }

  private static int resolve(SymbolTable table, String text) {
    byte[] bytes = ("--" + text + "--").getBytes(UTF_8);
    return table.resolve(bytes, 2, bytes.length - 4);
  }
}
