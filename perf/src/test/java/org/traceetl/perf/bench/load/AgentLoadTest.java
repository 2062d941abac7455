package org.traceetl.perf.bench.load;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.traceetl.agent.config.FiltersFile;
import org.traceetl.common.ConfigException;

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

  private static double bytesPerSpan(AgentLoad load) throws IOException {
    load.take(SPANS);
    load.close();
    return load.batchBytesPerSpan();
  }
}
