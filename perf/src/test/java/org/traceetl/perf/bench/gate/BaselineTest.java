package org.traceetl.perf.bench.gate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class BaselineTest {
  private static final Path FILE = Path.of("perf", "baseline.csv");
  private static final Figure AGENT = figure("agent-full");
  private static final Figure PAGE = figure("page");

  @TempDir private Path directory;

  private static Figure figure(String name) {
    return Figure.ALL.stream().filter(figure -> figure.name().equals(name)).findFirst().get();
  }

  private static Amounts amounts(double bytes) {
    return new Amounts(bytes, Optional.empty());
  }

  private static Amounts amounts(double bytes, double instructions) {
    return new Amounts(bytes, Optional.of(instructions));
  }

  private static Baseline parsed(String... lines) throws InvalidBaselineException {
    return Baseline.parse(FILE, List.of(lines));
  }

  @Test
  void linesAreReadWithoutComments() throws IOException {
    Baseline baseline =
        parsed(
            "# comment",
            "",
            "figure,unit,bytes,instructions",
            "agent-full,span,130.5,",
            "page,page,8000000,12.5");

    assertThat(baseline.of(AGENT)).contains(amounts(130.5));
    assertThat(baseline.of(PAGE)).contains(amounts(8_000_000, 12.5));
    assertThat(baseline.of(figure("server"))).isEmpty();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "agent-full,span,1 | agent-full,span,1: must be figure,unit,bytes,instructions",
        "agent,span,1,     | figure = agent: must be one of agent-full, agent-filters,",
        "page,span,1,      | unit = span: must be page",
        "page,page,-1,     | bytes = -1: must be a number of at least 0",
        "page,page,,       | bytes = : must be a number of at least 0",
        "page,page,1,many  | instructions = many: must be a number of at least 0",
        "server,span,1,    | server has two lines",
      })
  void invalidLinesAreNamed(String line, String problem) {
    assertThatThrownBy(() -> parsed("server,span,1,", line))
        .isInstanceOf(InvalidBaselineException.class)
        .hasMessageStartingWith(FILE + ":2: " + problem);
  }

  @Test
  void bytesMayNotRise() throws IOException {
    Baseline baseline = parsed("agent-full,span,130.5,");

    assertThat(baseline.problems(AGENT, amounts(130.5))).isEmpty();
    assertThat(baseline.problems(AGENT, amounts(130.51)))
        .containsExactly(
            "agent-full allocates 130.6 bytes a span; perf/baseline.csv allows 130.5. Reduce them,"
                + " or accept them with bin/bench gate --write");
  }

  @Test
  void instructionsMayRiseByATenth() throws IOException {
    Baseline baseline = parsed("agent-full,span,130.5,2000");

    assertThat(baseline.problems(AGENT, amounts(130, 2_200))).isEmpty();
    assertThat(baseline.problems(AGENT, amounts(130, 2_201)))
        .containsExactly(
            "agent-full takes 2201 instructions a span; perf/baseline.csv has 2000, and 10 % more"
                + " are allowed. Reduce them, or accept them with bin/bench gate --write");
    assertThat(baseline.problems(AGENT, amounts(131, 9_999))).hasSize(2);
  }

  @Test
  void instructionsAreComparedOnlyIfBothAreKnown() throws IOException {
    assertThat(parsed("agent-full,span,130,").problems(AGENT, amounts(1, 9_999))).isEmpty();
    assertThat(parsed("agent-full,span,130,1").problems(AGENT, amounts(1))).isEmpty();
  }

  @Test
  void figuresNeedALine() throws IOException {
    Baseline missing = Baseline.read(directory.resolve("baseline.csv"));

    assertThat(missing.problems(PAGE, amounts(1)))
        .containsExactly(
            directory.resolve("baseline.csv")
                + " has no line for page; write it with bin/bench gate --write");
  }

  @Test
  void whatWasMeasuredPassesTheBaselineThatIsWritten() throws IOException {
    Path file = directory.resolve("baseline.csv");
    Map<Figure, Amounts> measured = new HashMap<>();
    for (int i = 0; i < Figure.ALL.size(); i++) {
      measured.put(Figure.ALL.get(i), amounts(Math.pow(7.777, i) / 10, 1_234_567.8));
    }
    Baseline.read(file).with(measured).write();
    Baseline written = Baseline.read(file);

    measured.forEach((figure, amounts) -> {
      assertThat(written.problems(figure, amounts)).isEmpty();
      assertThat(written.problems(figure, amounts(amounts.bytes() * 1.11))).hasSize(1);
      assertThat(written.of(figure).get().instructions()).contains(1_235_000.0);
    });
  }

  @Test
  void instructionsOfAnotherMachineAreKept() throws IOException {
    Baseline baseline = parsed("page,page,1,500").with(Map.of(PAGE, amounts(100)));

    assertThat(baseline.of(PAGE)).contains(amounts(100 * 1.1, 500));
  }
}
