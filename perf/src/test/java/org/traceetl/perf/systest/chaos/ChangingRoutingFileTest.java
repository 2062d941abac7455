package org.traceetl.perf.systest.chaos;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.traceetl.agent.config.RoutingRules;

final class ChangingRoutingFileTest {
  @TempDir private Path directory;

  @Test
  void restoreUndoesAChange() throws Exception {
    ChangingRoutingFile file = new ChangingRoutingFile(directory.resolve("routing.yaml"));
    String before = Files.readString(file.path());
    file.change(7);
    assertThat(Files.readString(file.path())).isNotEqualTo(before);
    file.restore();
    assertThat(Files.readString(file.path())).isEqualTo(before);
  }

  @Test
  void agentsReadOtherQueuesForHalfOfTheApplications() throws Exception {
    for (int seed = 0; seed < 1_000; seed++) {
      String rules = ChangingRoutingFile.rules(seed, SpanLoad.SERVICES);
      RoutingRules read =
          org.traceetl.agent.config.RoutingFile.parse(
              rules.getBytes(UTF_8), RoutingRules.defaults());
      assertThat(read.applications()).hasSize(SpanLoad.SERVICES.size() / 2);
      assertThat(ChangingRoutingFile.rules(seed, SpanLoad.SERVICES)).isEqualTo(rules);
    }
  }
}
