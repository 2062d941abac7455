package org.traceetl.server.journal.chain;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.FutureTask;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.EdgeCasesMode;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.RandomDistribution;
import net.jqwik.api.lifecycle.AfterContainer;
import org.traceetl.server.journal.chain.ProtocolModel.Event;

/** Tests exactness under schedules that a real broker would rarely produce. */
class ProtocolTest {
  private static final Map<Event, Integer> EVENTS = new EnumMap<>(Event.class);

  @Provide
  Arbitrary<byte[]> tapes() {
    return Arbitraries.bytes()
        .withDistribution(RandomDistribution.uniform())
        .array(byte[].class)
        .ofMinSize(100)
        .ofMaxSize(3_000);
  }

  @Property(tries = 10_000, edgeCases = EdgeCasesMode.NONE)
  void whatIsShownIsWhatWasSent(@ForAll("tapes") byte[] tape) throws Exception {
    ProtocolModel model = new ProtocolModel(new Tape(tape));
    // Run on a thread like the model's own: a switch to another kind of thread is far slower.
    FutureTask<Void> run =
        new FutureTask<>(() -> {
          model.run();
          return null;
        });
    Thread.startVirtualThread(run);
    run.get();
    model.events().forEach((event, times) -> EVENTS.merge(event, times, Integer::sum));
  }

  /** Checks that each event occurs often: an idle model proves nothing. */
  @AfterContainer
  static void everythingHasHappened() {
    assertThat(EVENTS.keySet()).containsExactly(Event.values());
    assertThat(EVENTS.values()).allSatisfy(times -> assertThat(times).isGreaterThan(100));
  }
}
