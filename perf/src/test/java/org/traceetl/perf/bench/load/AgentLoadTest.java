package org.traceetl.perf.bench.load;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.traceetl.agent.config.FiltersFile;
import org.traceetl.common.ConfigException;
import org.traceetl.proto.Rejection;
import org.traceetl.proto.SpanBatchReader;

final class AgentLoadTest {
  private static final int SPANS = 20_000;

  private final OtlpExport export = new OtlpExport();
  private final List<RenumberedExport> requests =
      new SpanStream(1, 2, 3)
          .batches(8, 64, 128).stream()
              .map(batch -> new RenumberedExport(export.of(batch)))
              .toList();

  @Test
  void equalRequestsGiveEqualBatches() throws IOException {
    assertThat(bytesPerSpan(new AgentLoad(requests)))
        .isEqualTo(bytesPerSpan(new AgentLoad(requests)))
        .isBetween(50.0, 500.0);
  }

  @Test
  void groupedSpansTakeFewBytes() throws IOException, ConfigException {
    AgentLoad load = new AgentLoad(requests);
    load.filters(FiltersFile.parse("drop: [{application: '*'}]".getBytes(UTF_8)));

    assertThat(bytesPerSpan(load)).isLessThan(20);
  }

  @Test
  void demandedSpansTakeFewBytes() throws IOException {
    AgentLoad load = new AgentLoad(requests);
    load.demand();

    assertThat(bytesPerSpan(load)).isLessThan(25);
  }

  @Test
  void batchesCanBeRenamed() throws IOException {
    SpanBatchReader reader = new SpanBatchReader();
    int spans = 0;
    try (AgentLoad load = new AgentLoad(requests)) {
      load.demand();
      for (AgentLoad.Made made : load.batches(SPANS)) {
        byte[] renamed = new RenamedBatch(made.body()).named(7);

        assertThat(reader.wrap(renamed, 0, renamed.length)).isEqualTo(Rejection.NONE);
        assertThat(reader.sequence()).isEqualTo(RenamedBatch.FIRST_SEQUENCE + 7);
        assertThat(reader.spanCount()).isEqualTo(made.spans());
        spans += made.spans();
      }
    }
    // The last batches are still open.
    assertThat(spans).isBetween(SPANS / 2, SPANS);
  }

  private static double bytesPerSpan(AgentLoad load) throws IOException {
    load.take(SPANS);
    load.close();
    return load.batchBytesPerSpan();
  }
}
