package org.traceetl.server.journal.format;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.traceetl.server.window.QueueId;
import org.traceetl.server.window.RowlessWindow;
import org.traceetl.server.window.SealedWindow;
import org.traceetl.server.window.SeriesDefinition;

/** Tests that numbers of series are below {@link DefinitionFormat#MAX_SERIES} for any log. */
class SeriesBoundTest {
  private static final QueueId QUEUE = new QueueId("broker-a", 3);
  private static final int HIGHEST = DefinitionFormat.MAX_SERIES - 1;

  private static SealedWindow read(List<SeriesDefinition> created, int... evicted)
      throws MalformedRecordException {
    RecordWriter out = new RecordWriter();
    WindowFormat.encode(
        new RowlessWindow(QUEUE, 0, 1, 0, 0).created(created).evicted(evicted).seal(), out);
    return WindowFormat.decode(out.buffer(), 0, out.size(), QUEUE);
  }

  private static List<SeriesDefinition> created(int series) {
    return List.of(new SeriesDefinition(series, 0, false, List.of("shop", "a", "2", "0")));
  }

  @Test
  void theHighestIsRead() throws MalformedRecordException {
    SealedWindow window = read(created(HIGHEST), HIGHEST);

    assertThat(window.created()).isEqualTo(created(HIGHEST));
    assertThat(window.evicted()).containsExactly(HIGHEST);
  }

  @Test
  void oneAboveItIsRefused() {
    assertThatExceptionOfType(MalformedRecordException.class)
        .isThrownBy(() -> read(created(HIGHEST + 1)))
        .withMessageContaining("series 16777216");
    assertThatExceptionOfType(MalformedRecordException.class)
        .isThrownBy(() -> read(List.of(), HIGHEST + 1))
        .withMessageContaining("evicts series 16777216");
  }
}
