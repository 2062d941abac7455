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
  private final SymbolTable symbols = new SymbolTable(1_000, 10_000, 16, 1);

  @Property
  void equalStringsShareASymbolAndOthersDoNot(
      @ForAll @Size(max = 100) List<@StringLength(max = 5) String> strings) {
    SymbolTable table = new SymbolTable(1_000, 10_000, 64, 1);
    Map<String, Integer> model = new HashMap<>();
    for (String string : strings) {
      // An unpaired surrogate has no UTF-8 form; it becomes a question mark.
      String text = new String(string.getBytes(UTF_8), UTF_8);
      int symbol = intern(table, text);
      assertThat(model.computeIfAbsent(text, t -> symbol)).isEqualTo(symbol);
      assertThat(table.text(symbol)).isEqualTo(text);
    }
    assertThat(table.size()).isEqualTo(model.size());
    assertThat(model.values()).doesNotHaveDuplicates();
  }

  @Test
  void symbolsThatNobodyUsesAreForgotten() {
    int kept = intern(symbols, "kept");
    symbols.retain(kept);
    intern(symbols, "dropped");
    symbols.sweep();

    assertThat(symbols.size()).isEqualTo(1);
    assertThat(intern(symbols, "kept")).isEqualTo(kept);

    symbols.release(kept);
    assertThat(symbols.size()).isEqualTo(1);
    symbols.sweep();
    assertThat(symbols.size()).isZero();
  }

  @Test
  void lookingUpMakesNoSymbol() {
    byte[] name = {'a'};
    assertThat(symbols.find(name, 0, 1)).isEqualTo(SymbolTable.ABSENT);
    assertThat(symbols.size()).isZero();
    assertThat(symbols.intern(name, 0, 1)).isEqualTo(symbols.find(name, 0, 1)).isNotNegative();
  }

  @Test
  void numbersAreUsedAnew() {
    List<Integer> first = new ArrayList<>();
    for (int i = 0; i < 500; i++) {
      first.add(intern(symbols, "a" + i));
    }
    symbols.sweep();
    List<Integer> second = new ArrayList<>();
    for (int i = 0; i < 500; i++) {
      second.add(intern(symbols, "b" + i));
    }

    assertThat(second).containsExactlyInAnyOrderElementsOf(first);
  }

  @Test
  void entriesAndBytesAreBounded() {
    SymbolTable few = new SymbolTable(2, 10_000, 16, 1);
    intern(few, "a");
    intern(few, "b");
    assertThat(intern(few, "c")).isEqualTo(SymbolTable.FULL);
    assertThat(intern(few, "a")).isNotNegative();

    SymbolTable small = new SymbolTable(100, 10, 16, 1);
    intern(small, "12345678");
    assertThat(intern(small, "abc")).isEqualTo(SymbolTable.FULL);
    assertThat(intern(small, "ab")).isNotNegative();
  }

  @Test
  void longStringsAreCutBetweenCharacters() {
    assertThat(symbols.text(intern(symbols, "0123456789abcdef-and-more")))
        .isEqualTo("0123456789abcdef");
    assertThat(symbols.text(intern(symbols, "0123456789abcd€uro"))).isEqualTo("0123456789abcd");
  }

  @Test
  void malformedUtf8SharesTheSymbolOfItsRepairedText() {
    byte[] malformed = {'a', (byte) 0xFF, 'b'};
    int symbol = symbols.intern(malformed, 0, malformed.length);

    assertThat(symbols.text(symbol)).isEqualTo("a\uFFFDb");
    assertThat(intern(symbols, "a\uFFFDb")).isEqualTo(symbol);
    assertThat(symbols.find(malformed, 0, malformed.length)).isEqualTo(symbol);
    assertThat(symbols.intern(malformed, 0, malformed.length)).isEqualTo(symbol);
    assertThat(symbols.size()).isEqualTo(1);
  }

  private static int intern(SymbolTable table, String text) {
    byte[] bytes = ("--" + text + "--").getBytes(UTF_8);
    return table.intern(bytes, 2, bytes.length - 4);
  }
}
