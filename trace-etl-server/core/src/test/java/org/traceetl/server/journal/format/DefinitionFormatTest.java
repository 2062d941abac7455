package org.traceetl.server.journal.format;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.traceetl.server.window.SeriesDefinition;

class DefinitionFormatTest {
  private static final SeriesDefinition PLAIN =
      new SeriesDefinition(0, 1_000, true, Arrays.asList("shop", null, null, null, null, null));
  private static final SeriesDefinition OF_KIND =
      new SeriesDefinition(0, 1_000, true, Arrays.asList("shop", null, "7", "2", null, null));

  private static String written(SeriesDefinition definition) {
    RecordWriter writer = new RecordWriter();
    new DefinitionFormat(1_000).write(definition, writer);
    return HexFormat.of().formatHex(writer.buffer(), 0, writer.size());
  }

  private static SeriesDefinition read(String hex) throws MalformedRecordException {
    byte[] bytes = HexFormat.of().parseHex(hex);
    return new DefinitionFormat(1_000).read(new RecordReader(bytes, 0, bytes.length));
  }

  @Test
  void anOverflowSeriesSaysOfWhichKindItIs() throws MalformedRecordException {
    assertThat(written(PLAIN)).isEqualTo("0100" + "06" + "010473686f70");
    assertThat(written(OF_KIND)).isEqualTo("0100" + "8602" + "010473686f70" + "1e");
    assertThat(read(written(PLAIN))).isEqualTo(PLAIN);
    assertThat(read(written(OF_KIND))).isEqualTo(OF_KIND);
  }

  @Test
  void theNumberOfFurtherLabelsMayDiffer() throws MalformedRecordException {
    List<String> fixed = Arrays.asList("shop", "GET", "2", "0", null);
    for (int labels : new int[] {0, 1, 64, 125}) {
      List<String> values = new ArrayList<>(fixed);
      for (int label = 0; label < labels; label++) {
        values.add("label" + label);
        values.add("value");
      }
      SeriesDefinition definition = new SeriesDefinition(labels, 1_000, false, values);
      assertThat(read(written(definition))).isEqualTo(definition);
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "0100" + "8302" + "010473686f70" + "1e", // three values
        "0100" + "8604" + "010473686f70" + "1e", // 512 more
        "0100" + "8602" + "010473686f70" + "1f", // status 3
        "0100" + "8602" + "010473686f70" + "58", // kind 22
        "0000" + "8602" + "010473686f70" + "1e", // no overflow series
        "0000" + "8002" + "010473686f70" + "0101" + "61" + "08", // 256 values
      })
  void othersAreRefused(String hex) {
    assertThatThrownBy(() -> read(hex)).isInstanceOf(MalformedRecordException.class);
  }
}
