package org.traceetl.agent.forward;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.traceetl.agent.config.ForwardConfig;
import org.traceetl.agent.config.ForwardConfig.Endpoint;
import org.traceetl.agent.config.ForwardConfig.Keep;
import org.traceetl.agent.flow.Completion;
import org.traceetl.agent.flow.Intake;
import org.traceetl.agent.flow.OtlpFormat;
import org.traceetl.agent.flow.SpanDecoder;
import org.traceetl.agent.flow.SpanSink;
import org.traceetl.agent.flow.SpanView;
import org.traceetl.agent.forward.ForwardMetrics.Drop;
import org.traceetl.agent.forward.ForwardMetrics.SpanOutcome;
import org.traceetl.agent.forward.TraceClient.Answer;
import org.traceetl.agent.otlp.OtlpWriter;
import org.traceetl.agent.otlp.SpanEncoder;
import org.traceetl.common.Clocks;
import org.traceetl.common.Threads;

/** The queue, the thread that writes, and endpoints that a test answers for. */
@Timeout(60)
final class ForwardingTest {
  private static final int MIB = 1 << 20;
  private static final SpanDecoder PROTOBUF =
      new SpanDecoder() {
        @Override
        public void decode(byte[] payload, int length, SpanSink sink) {}

        @Override
        public OtlpFormat otlpFormat() {
          return OtlpFormat.PROTOBUF;
        }
      };

  /** Confirms each payload at once, as a pipeline whose spool takes it. */
  private static final Intake PIPELINE =
      (source, payload, length, decoder, completion) -> {
        completion.released(payload);
        completion.confirmed(1, 0, "");
        return Intake.Admission.ACCEPTED;
      };

  @TempDir private Path directory;

  private final CountDownLatch diskWorks = new CountDownLatch(1);
  private final FullDisk disk = new FullDisk(diskWorks);
  private final AtomicInteger confirmed = new AtomicInteger();
  private final AtomicInteger released = new AtomicInteger();
  private final AtomicInteger decoded = new AtomicInteger();
  private final AtomicLong millis = new AtomicLong(1_795_255_028_000L);
  private volatile boolean answering = true;

  @Test
  void aDiskThatHangsStopsNoSourceAndCostsOnlyWhatTheQueueCannotHold() throws Exception {
    try (Forwarding forwarding = start()) {
      Intake intake = forwarding.over(PIPELINE);
      offer(intake, 100);
      // No more is held than the queue's bound, and the request that is being written.
      assertThat(confirmed).hasValue(100);
      int held = 100 - released.get();
      assertThat(held).isBetween(1, ForwardConfig.QUEUE_BYTES / MIB);
      assertThat(dropped(forwarding, Drop.QUEUE_FULL)).isEqualTo(100 - held);

      diskWorks.countDown();
      await().untilAsserted(() -> assertThat(released).hasValue(100));
      await().until(() -> metrics(forwarding).forwarded("a") == held);
      assertThat(dropped(forwarding, Drop.QUEUE_FULL)).isEqualTo(100 - held);
      assertThat(forwarding.drain(Duration.ofSeconds(30))).isTrue();
    }
  }

  @Test
  void aDiskThatFailsCostsRequestsUntilItWorks() throws Exception {
    diskWorks.countDown();
    try (Forwarding forwarding = start()) {
      Intake intake = forwarding.over(PIPELINE);
      disk.room = 10;
      offer(intake, 3);
      await().untilAsserted(() -> assertThat(released).hasValue(3));
      assertThat(dropped(forwarding, Drop.DISK_FAILED)).isEqualTo(3);

      disk.room = Integer.MAX_VALUE;
      await()
          .until(() -> {
            offer(intake, 1);
            return metrics(forwarding).forwarded("a") > 0;
          });
      await().untilAsserted(() -> assertThat(released).hasValue(confirmed.get()));
    }
  }

  @Test
  void aDrainEndsIfTheLastRequestIsLeftOut() throws Exception {
    diskWorks.countDown();
    CountDownLatch drains = new CountDownLatch(1);
    // A drain waits until senders end it, and nothing is decided on before.
    Threads threads =
        new OwnThreads() {
          @Override
          public boolean await(CountDownLatch latch, Duration atMost) throws InterruptedException {
            drains.countDown();
            latch.await();
            return true;
          }
        };
    SpanDecoder decoder =
        decoder(() -> {
          if (decoded.incrementAndGet() == 2) {
            drains.await();
          }
        });
    try (Forwarding forwarding = start(keep(0), threads, decoder)) {
      offer(forwarding.over(PIPELINE), 1);
      assertThat(forwarding.drain(Duration.ofSeconds(30))).isTrue();
      assertThat(metrics(forwarding).keeping()[0]).isEqualTo(1);
    }
  }

  @Test
  void requestsThatHaveWaitedAreNotLostWhileTheDiskFails() throws Exception {
    diskWorks.countDown();
    SpanDecoder decoder = decoder(decoded::incrementAndGet);
    try (Forwarding forwarding = start(keep(1), Threads.SYSTEM, decoder)) {
      offer(forwarding.over(PIPELINE), 3);
      await().untilAsserted(() -> assertThat(released).hasValue(3));
      disk.room = 0;
      millis.addAndGet(10_000);
      await().untilAsserted(() -> assertThat(disk.refusedWrites).hasValueGreaterThan(1));
      disk.room = Integer.MAX_VALUE;
      await().until(() -> metrics(forwarding).forwarded("a") == 3);
      assertThat(dropped(forwarding, Drop.DISK_FAILED)).isZero();
    }
  }

  @Test
  void catchingUpDoesNotHoldBackTheIntake() throws Exception {
    diskWorks.countDown();
    SpanDecoder decoder = decoder(decoded::incrementAndGet);
    try (Forwarding forwarding = start(keep(1), new StoppedThreads(), decoder)) {
      Intake intake = forwarding.over(PIPELINE);
      for (int i = 0; i < 100; i++) {
        intake.offer("otlp_http", new byte[10], PROTOBUF, new Once());
      }
      forwarding.doWork();
      assertThat(released).hasValue(64);
      assertThat(decoded).hasValue(4);
      forwarding.doWork();
      assertThat(released).hasValue(100);
    }
  }

  @Test
  void filesThatCannotBeOpenedDoNotHoldBackTheIntake() throws Exception {
    diskWorks.countDown();
    SpanDecoder decoder = decoder(decoded::incrementAndGet);
    try (Forwarding forwarding = start(keep(1), new StoppedThreads(), decoder)) {
      Intake intake = forwarding.over(PIPELINE);
      disk.refusesToOpen = true;
      offer(intake, 2);
      assertThat(forwarding.doWork()).isZero();
      assertThat(forwarding.doWork()).isPositive();
      assertThat(released).hasValue(2);
      assertThat(decoded).hasValue(0);
      disk.refusesToOpen = false;
      forwarding.doWork();
      assertThat(decoded).hasValue(2);
      assertThat(dropped(forwarding, Drop.DAMAGED)).isZero();
    }
  }

  @Test
  void whatAnEndpointDoesNotAcceptInTimeStaysForTheNextStart() throws Exception {
    diskWorks.countDown();
    answering = false;
    try (Forwarding forwarding = start()) {
      offer(forwarding.over(PIPELINE), 5);
      assertThat(forwarding.drain(Duration.ofMillis(1))).isFalse();
    }
    assertThat(released).hasValue(5);
    answering = true;
    try (Forwarding forwarding = start()) {
      await().until(() -> metrics(forwarding).forwarded("a") == 5);
      assertThat(forwarding.drain(Duration.ofSeconds(30))).isTrue();
    }
  }

  @Test
  void spansOfRingsAreStoredOrCountedAsDropped() throws Exception {
    try (Forwarding forwarding = start()) {
      Intake intake = forwarding.over(PIPELINE);
      // The first request fills while the disk hangs; the queue takes what it can hold.
      for (int i = 0; i < 100; i++) {
        intake.offer("ring", new byte[MIB - 1_024], ring(), new Once());
      }
      assertThat(confirmed).hasValue(100);
      double full = encoded(forwarding, SpanOutcome.QUEUE_FULL);
      assertThat(full).isPositive().isLessThanOrEqualTo(1_100);

      diskWorks.countDown();
      await().untilAsserted(() -> assertThat(released).hasValue(100));
      assertThat(forwarding.drain(Duration.ofSeconds(30))).isTrue();
      assertThat(encoded(forwarding, SpanOutcome.STORED) + full * 10 / 11).isEqualTo(1_000);
      assertThat(encoded(forwarding, SpanOutcome.MALFORMED) + full / 11).isEqualTo(100);
      assertThat(dropped(forwarding, Drop.QUEUE_FULL)).isEqualTo(full / 11);

      disk.room = 10;
      intake.offer("ring", new byte[MIB - 1_024], ring(), new Once());
      await()
          .untilAsserted(
              () -> assertThat(encoded(forwarding, SpanOutcome.DISK_FAILED)).isEqualTo(10));
      assertThat(dropped(forwarding, Drop.DISK_FAILED)).isEqualTo(1);
    }
  }

  @Test
  void spansOfManyPayloadsBecomeOneRequest() throws Exception {
    diskWorks.countDown();
    try (Forwarding forwarding = start()) {
      Intake intake = forwarding.over(PIPELINE);
      for (int i = 0; i < 100; i++) {
        intake.offer("ring", new byte[1], ring(), new Once());
      }
      assertThat(forwarding.drain(Duration.ofSeconds(30))).isTrue();
      assertThat(encoded(forwarding, SpanOutcome.STORED)).isEqualTo(1_000);
      assertThat(metrics(forwarding).forwarded("a")).isBetween(1.0, 99.0);
    }
  }

  @Test
  void allOutcomesOfSpansExistBeforeTheFirstLoss() {
    List<List<String>> labels =
        new ForwardMetrics(List.of("a"))
            .collect().stream()
                .flatMap(family -> family.samples.stream())
                .filter(sample -> sample.name.endsWith("_forward_encoded_spans_total"))
                .map(sample -> sample.labelValues)
                .toList();

    assertThat(labels).hasSize(2 * SpanOutcome.values().length);
    assertThat(labels).contains(List.of("ring", "too_large"), List.of("file", "malformed"));
  }

  /** Returns a decoder whose payloads have ten spans of a tenth of them, and one that is none. */
  private static SpanDecoder ring() {
    return new SpanDecoder() {
      @Override
      public void decode(byte[] payload, int length, SpanSink sink) {}

      @Override
      public SpanEncoder encoder() {
        return new SpanEncoder() {
          @Override
          public void encode(byte[] payload, int length, OtlpWriter to) {
            for (int i = 0; i < 10; i++) {
              to.span(1, 2, 3, 0);
              to.name(payload, 0, length / 10);
              to.endSpan();
            }
            to.leftOut(OtlpWriter.LeftOut.MALFORMED);
          }

          @Override
          public int spans(byte[] payload, int length) {
            return 11;
          }
        };
      }
    };
  }

  private static double encoded(Forwarding forwarding, SpanOutcome outcome) {
    return metrics(forwarding).encoded("ring", outcome);
  }

  private static Keep keep(double ratio) {
    return new Keep(true, 10_000, 0, false, ratio, 256 * MIB);
  }

  /** The threads of the machine. */
  private static class OwnThreads implements Threads {
    @Override
    public Thread create(Kind kind, String name, Runnable work) {
      return SYSTEM.create(kind, name, work);
    }

    @Override
    public void park(Object blocker, long nanos) {
      SYSTEM.park(blocker, nanos);
    }

    @Override
    public boolean join(Thread thread, Duration atMost) throws InterruptedException {
      return SYSTEM.join(thread, atMost);
    }

    @Override
    public boolean await(CountDownLatch latch, Duration atMost) throws InterruptedException {
      return SYSTEM.await(latch, atMost);
    }
  }

  /** Threads that do nothing, for tests that take the steps. */
  private static final class StoppedThreads extends OwnThreads {
    @Override
    public Thread create(Kind kind, String name, Runnable work) {
      return super.create(kind, name, () -> {});
    }
  }

  private interface Decoding {
    void decode() throws Exception;
  }

  /** Returns a decoder of requests of one ordinary span. */
  private static SpanDecoder decoder(Decoding decoding) {
    SpanView span = new SpanView();
    span.traceIdLow = 1;
    return new SpanDecoder() {
      @Override
      public void decode(byte[] payload, int length, SpanSink sink) {
        try {
          decoding.decode();
        } catch (Exception e) {
          throw new AssertionError(e);
        }
        sink.span(span);
      }
    };
  }

  private Forwarding start() throws IOException {
    return start(ForwardConfig.defaults().keep(), Threads.SYSTEM, PROTOBUF);
  }

  private Forwarding start(Keep keep, Threads threads, SpanDecoder decoder) throws IOException {
    ForwardConfig config =
        new ForwardConfig(
            256 * MIB, List.of(Endpoint.of("a", URI.create("http://x/v1/traces"))), keep);
    return new Forwarding(
        config,
        directory,
        disk.disk(),
        new Clocks(
            System::nanoTime,
            () -> Instant.ofEpochMilli(millis.get()),
            TimeUnit.NANOSECONDS::sleep,
            threads),
        new SplittableRandom(7),
        Map.of(OtlpFormat.PROTOBUF, decoder),
        List.of(
            new TraceClient() {
              @Override
              public CompletableFuture<Answer> send(OtlpFormat format, Blocks body) {
                return answering
                    ? CompletableFuture.completedFuture(new Answer(200, 0, 0, ""))
                    : new CompletableFuture<>();
              }

              @Override
              public void close() {}
            }));
  }

  private static ForwardMetrics metrics(Forwarding forwarding) {
    return (ForwardMetrics) forwarding.metrics();
  }

  private static double dropped(Forwarding forwarding, Drop reason) {
    return metrics(forwarding).dropped("a", reason);
  }

  private void offer(Intake intake, int requests) {
    for (int i = 0; i < requests; i++) {
      intake.offer("otlp_http", new byte[MIB - 1_024], PROTOBUF, new Once());
    }
  }

  /** A request whose array must come back exactly once. */
  private final class Once implements Completion {
    private final AtomicInteger times = new AtomicInteger();

    @Override
    public void released(byte[] payload) {
      assertThat(times.incrementAndGet()).isEqualTo(1);
      released.incrementAndGet();
    }

    @Override
    public void confirmed(int accepted, int rejected, String reason) {
      confirmed.incrementAndGet();
    }

    @Override
    public void malformed(String reason) {
      throw new AssertionError(reason);
    }

    @Override
    public void failed(String reason) {
      throw new AssertionError(reason);
    }
  }
}
