package org.traceetl.server.journal;

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
import org.traceetl.server.journal.ProtocolModel.Event;

/** Exactness under schedules that no real broker would have to be asked for. */
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
    // Beside the model's own threads: handing over to one of another kind takes far longer.
    FutureTask<Void> run =
        new FutureTask<>(() -> {
          model.run();
          return null;
        });
    Thread.startVirtualThread(run);
    run.get();
    model.events().forEach((event, times) -> EVENTS.merge(event, times, Integer::sum));
  }

  /** A model in which nothing happens proves nothing. */
  @AfterContainer
  static void everythingHasHappened() {
    assertThat(EVENTS.keySet()).containsExactly(Event.values());
    assertThat(EVENTS.values()).allSatisfy(times -> assertThat(times).isGreaterThan(100));
  }
}
