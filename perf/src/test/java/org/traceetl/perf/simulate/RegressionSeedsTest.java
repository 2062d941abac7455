package org.traceetl.perf.simulate;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.traceetl.perf.simulate.broker.Misbehaviour;
import org.traceetl.perf.simulate.fault.Fault;

/**
 * Replays a schedule of all faults, and those with which the simulation once found a bug of the
 * programs.
 */
final class RegressionSeedsTest {
  static List<Path> plans() throws IOException, URISyntaxException {
    Path folder = Path.of(RegressionSeedsTest.class.getResource("seeds").toURI());
    try (Stream<Path> files = Files.list(folder)) {
      return files.sorted().toList();
    }
  }

  @ParameterizedTest
  @MethodSource("plans")
  void aScheduleOfTheFolderPasses(Path plan) throws IOException {
    Outcome outcome = new Run(Plan.read(Files.readAllLines(plan)), progress -> {}).call();

    assertThat(outcome.failures()).isEmpty();
  }

  @Test
  void everyKindOfFaultIsInTheFolder() throws IOException, URISyntaxException {
    Set<String> kinds = new TreeSet<>();
    for (Path plan : plans()) {
      Plan.read(Files.readAllLines(plan))
          .schedule()
          .faults()
          .forEach(fault -> kinds.add(kind(fault)));
    }

    assertThat(kinds)
        .containsAll(Arrays.stream(Misbehaviour.values()).map(Object::toString).toList())
        .containsAll(
            Arrays.stream(Fault.class.getPermittedSubclasses())
                .filter(kind -> kind != Fault.BadService.class)
                .map(Class::getSimpleName)
                .toList());
  }

  @Test
  void theScheduleOfSampledSpansHasThem() throws IOException, URISyntaxException {
    Path sampled =
        Path.of(RegressionSeedsTest.class.getResource("seeds/sampled-spans.txt").toURI());
    DemandDraw draw = DemandDraw.of(Plan.read(Files.readAllLines(sampled)), false);

    assertThat(draw.weights()).isTrue();
    assertThat(draw.sampleRatios()).anyMatch(ratio -> ratio > 0 && ratio < 1);
  }

  private static String kind(Fault fault) {
    return fault instanceof Fault.BadService service
        ? service.how().toString()
        : fault.getClass().getSimpleName();
  }
}
