package org.traceetl.server.journal.format;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Arrays;
import java.util.HexFormat;
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

  @ParameterizedTest
  @ValueSource(
      strings = {
        "0100" + "8302" + "010473686f70" + "1e", // three values
        "0100" + "8604" + "010473686f70" + "1e", // 512 more
        "0100" + "8602" + "010473686f70" + "1f", // status 3
        "0100" + "8602" + "010473686f70" + "40", // kind 16
        "0000" + "8602" + "010473686f70" + "1e", // no overflow series
      })
  void othersAreRefused(String hex) {
    assertThatThrownBy(() -> read(hex)).isInstanceOf(MalformedRecordException.class);
  }
}
