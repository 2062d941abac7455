package org.traceetl.server.features.backfill;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.traceetl.server.window.NativeTotals;
import org.traceetl.server.window.SeriesDefinition;

class SentSamplesTest {
  private static final SeriesDefinition SERIES =
      new SeriesDefinition(0, 0, false, Arrays.asList("shop", "GET /", "2", "0"));
  private static final Totals TOTALS = new Totals(2);

  @TempDir private Path directory;
  private long nowNanos;

  /** Refuses samples on demand; answers at once. */
  private static final class Receiver implements SampleReceiver {
    private final String id;
    private final List<Long> times = new ArrayList<>();
    private final Map<String, Long> refused = new HashMap<>();

    /** Reason why samples are refused; null for none. */
    private String refusal;

    Receiver(String id, String refusal) {
      this.id = id;
      this.refusal = refusal;
    }

    @Override
    public String id() {
      return id;
    }

    @Override
    public void sample(
        SeriesDefinition series,
        long startMillis,
        long atMillis,
        long[] counts,
        long sumMillis,
        int sumNanos,
        NativeTotals natives) {
      times.add(atMillis);
      if (refusal != null) {
        refused.merge(refusal, 1L, Long::sum);
      }
    }

    @Override
    public void flush() {}

    @Override
    public long written() {
      return times.size();
    }

    @Override
    public Map<String, Long> refused() {
      return refused;
    }

    @Override
    public void close() {}
  }

  /**
   * Sends samples at 1, 2 and 3 with a mark after each.
   *
   * @param refusedFrom samples from this time on are refused for the reason of the receiver
   * @return the times of the samples that were sent
   */
  private List<Long> send(Receiver to, int refusedFrom) throws Exception {
    String refusal = to.refusal;
    try (OutputDirectory output = OutputDirectory.open(directory.resolve("output"))) {
      if (output.plan() == null) {
        output.write(new BackfillPlan("shop", "1h", null, "", 0, 3, List.of(), null));
      }
      SentSamples sent = new SentSamples(output, to, () -> nowNanos);
      for (int at = 1; at <= 3; at++) {
        to.refusal = at >= refusedFrom ? refusal : null;
        sent.sample(SERIES, 0, at, TOTALS, new NativeTotals());
        nowNanos += TimeUnit.SECONDS.toNanos(5);
        sent.endPane(at);
      }
      sent.finish(3);
    }
    return to.times;
  }

  @Test
  void samplesThatAReceiverHasAreNotSentAgain() throws Exception {
    assertThat(send(new Receiver("a", null), 1)).containsExactly(1L, 2L, 3L);
    assertThat(send(new Receiver("a", null), 1)).isEmpty();
  }

  @Test
  void refusedSamplesAreSentAgain() throws Exception {
    Receiver refuses = new Receiver("a", "out_of_bounds");
    assertThat(send(refuses, 2)).containsExactly(1L, 2L, 3L);
    assertThat(refuses.lacksSamples()).isTrue();
    assertThat(send(new Receiver("a", null), 1)).containsExactly(2L, 3L);
    assertThat(send(new Receiver("a", null), 1)).isEmpty();
  }

  @Test
  void duplicatesAreNotSentAgain() throws Exception {
    Receiver had = new Receiver("a", SampleReceiver.DUPLICATE);
    send(had, 1);
    assertThat(had.refused).containsEntry(SampleReceiver.DUPLICATE, 3L);
    assertThat(had.lacksSamples()).isFalse();
    assertThat(send(new Receiver("a", null), 1)).isEmpty();
  }

  @Test
  void anotherReceiverGetsAllSamples() throws Exception {
    send(new Receiver("a", null), 1);
    assertThat(send(new Receiver("b", null), 1)).containsExactly(1L, 2L, 3L);
  }
}
