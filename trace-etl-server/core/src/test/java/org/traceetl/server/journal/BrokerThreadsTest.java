package org.traceetl.server.journal;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.traceetl.common.Clocks;
import org.traceetl.common.LogThrottle;
import org.traceetl.common.SteppedTask;
import org.traceetl.server.window.QueueId;
import org.traceetl.server.window.RowlessWindow;
import org.traceetl.server.window.SealedWindow;

class BrokerThreadsTest {
  private static final class Reader implements SteppedTask {
    private final CountDownLatch ran = new CountDownLatch(1);

    @Override
    public long doWork() {
      ran.countDown();
      return UNTIL_WOKEN;
    }
  }

  @Test
  void eachBrokerHasOneReaderWhoseThreadRunsBetweenStartAndClose() throws Exception {
    BrokerThreads<Reader> threads =
        new BrokerThreads<>(
            Clocks.SYSTEM, "test", broker -> new Reader(), new LogThrottle(() -> 0));
    Reader early = threads.of("a");
    threads.start();
    Reader late = threads.of("b");
    early.ran.await();
    late.ran.await();
    assertThat(threads.of("a")).isSameAs(early);
    assertThat(threads.all()).containsExactly(early, late);
    threads.wake();
    assertThat(threads.alive()).isTrue();
    threads.close();

    assertThat(threads.of("c").ran.getCount()).isEqualTo(1);
  }

  @Test
  void listenersReceiveWhatTheReaderReads() {
    FleetWindows windows = new FleetWindows();
    assertThat(windows.upToDate()).isFalse();
    List<Object> received = new ArrayList<>();
    windows.subscribe(
        new FleetWindows.Listener() {
          @Override
          public void window(SealedWindow window) {
            received.add(window);
          }

          @Override
          public void series(QueueId queue, QueueImage image) {
            received.add(image);
          }
        });
    windows.subscribe(received::add);
    boolean[] upToDate = {false};
    FleetWindows.Listener reader = windows.readBy(() -> upToDate[0]);
    assertThat(windows.upToDate()).isFalse();
    upToDate[0] = true;
    SealedWindow window = Windows.window(new QueueId("b", 0), 0, 1, 1);
    QueueImage image = Windows.newImage();
    reader.window(window);
    reader.series(window.queue(), image);

    assertThat(windows.upToDate()).isTrue();
    assertThat(received).containsExactly(window, window, image);
  }

  @Test
  void seriesOfOtherBucketsOrDimensionsAreRemovedWithTheirReceivedSpans() {
    for (SealedWindow other :
        List.of(withSchema(Windows.SCHEMA + 1, 1), withSchema(Windows.SCHEMA, 2))) {
      QueueImage image = Windows.newImage().keepReceived();
      image.apply(Windows.window(new QueueId("b", 0), 0, 1, 1, 2));
      assertThat(image.definition(1)).isNotNull();
      image.apply(other);
      assertThat(image.definition(1)).isNull();
      assertThat(image.slots()).isZero();
      assertThat(image.to()).isEqualTo(2);
      assertThat(image.received().size()).isZero();
    }
    QueueImage plain = Windows.newImage();
    plain.apply(withSchema(Windows.SCHEMA + 1, 1));
    assertThat(plain.received()).isNull();
  }

  private static SealedWindow withSchema(long schema, int stride) {
    return new RowlessWindow(new QueueId("b", 0), 1, 2, 0, 0).schema(schema).stride(stride).seal();
  }
}
