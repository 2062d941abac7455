package org.traceetl.perf.simulate.mutation;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.traceetl.perf.simulate.mutation.TrialResult.Verdict;
import picocli.CommandLine;

final class TrialTest {
  private static final Duration ENOUGH = Duration.ofMinutes(5);

  @TempDir private Path folder;

  @Test
  void mutantIsFoundWithTheSeedWhoseCheckFails() throws Exception {
    TrialResult result = trial(1, 5, ENOUGH).run(mutant(2));

    assertThat(result.verdict()).isEqualTo(Verdict.FOUND);
    assertThat(result.seed()).isEqualTo(3);
    assertThat(result.detail()).isEqualTo("queue a/1 is shown by server-1 and server-2");
    assertThat(result.hours()).isEqualTo(1.5);
  }

  @Test
  void mutantWithoutFailedCheckIsNotFound() throws Exception {
    assertThat(trial(1, 3, ENOUGH).run(mutant(1)).verdict()).isEqualTo(Verdict.NOT_FOUND);
  }

  @Test
  void unchangedProgramsPass() throws Exception {
    assertThat(trial(3, 1, ENOUGH).run(null).verdict()).isEqualTo(Verdict.NOT_FOUND);
  }

  @Test
  void crashOfTheSimulationIsNoAnswer() throws Exception {
    TrialResult result = trial(100, 1, ENOUGH).run(mutant(2));

    assertThat(result.verdict()).isEqualTo(Verdict.BROKEN);
    assertThat(result.detail()).contains("exit code 1");
  }

  @Test
  void mutantThatTheWatchdogEndsCountsApart() throws Exception {
    TrialResult result = trial(150, 1, ENOUGH).run(mutant(2));

    assertThat(result.verdict()).isEqualTo(Verdict.STALLED);
    assertThat(result.seed()).isEqualTo(150);
  }

  @Test
  void timeLimitEndsARunWithoutBeingFound() throws Exception {
    TrialResult result = trial(200, 1, Duration.ZERO).run(mutant(2));

    assertThat(result.verdict()).isEqualTo(Verdict.NOT_FOUND);
    assertThat(result.detail()).contains("time limit");
  }

  @Test
  void unchangedProgramsWithoutAnEndedRunAreNoAnswer() throws Exception {
    TrialResult result = trial(200, 1, Duration.ZERO).run(null);

    assertThat(result.verdict()).isEqualTo(Verdict.BROKEN);
    assertThat(result.detail()).contains("time limit");
  }

  @Test
  void classesOfAnEarlierTrialAreDeleted() throws Exception {
    Path old = folder.resolve("1/classes/org/Old.class");
    Files.createDirectories(old.getParent());
    Files.createFile(old);

    trial(1, 1, ENOUGH).run(mutant(1));

    assertThat(old).doesNotExist();
  }

  @ParameterizedTest
  @ValueSource(strings = {"--only=99", "--hours=NaN", "--seeds=0", "--pit=-1", "--pit=1 --only=1"})
  void aWrongOptionIsRefusedWithItsValue(String options) {
    StringWriter errors = new StringWriter();

    int exitCode =
        new CommandLine(new Mutations())
            .setErr(new PrintWriter(errors))
            .execute(options.split(" "));

    assertThat(exitCode).isEqualTo(2);
    assertThat(errors.toString()).contains(options.split(" ")[0].replace("=", " = "), ": must be");
  }

  private Trial trial(long firstSeed, int seeds, Duration wallLimit) {
    return new Trial(
        new Trial.Limits(
            PretendedSimulation.class.getName(), 1, firstSeed, seeds, null, List.of(), wallLimit),
        folder);
  }

  private static Mutant mutant(int number) throws IOException {
    return new SourceMutants(Path.of("..")).of(Mutation.all().get(number - 1));
  }
}
