package org.traceetl.agent.forward;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.ConnectException;
import java.net.URI;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.traceetl.agent.config.ForwardConfig.Compression;
import org.traceetl.agent.config.ForwardConfig.Endpoint;
import org.traceetl.agent.disk.Disk;
import org.traceetl.agent.flow.OtlpFormat;
import org.traceetl.agent.forward.ForwardMetrics.Drop;
import org.traceetl.agent.forward.TraceClient.Answer;
import org.traceetl.common.Clocks;
import org.traceetl.common.SteppedTask;

/** Steps a sender by hand. */
final class EndpointSenderTest {
  private static final Answer OK = new Answer(200, 0, 0, "");
  private static final Endpoint ENDPOINT =
      new Endpoint(
          "a",
          URI.create("http://127.0.0.1:1/v1/traces"),
          Compression.NONE,
          Map.of(),
          Optional.empty(),
          Optional.empty(),
          Optional.empty(),
          1_000);

  @TempDir private Path directory;

  private final List<String> sent = new ArrayList<>();
  private final List<CompletableFuture<Answer>> answers = new ArrayList<>();
  private IOException headersFailure;
  // Far from 0, which the sender must not take for a time.
  private long nanos = Long.MIN_VALUE / 2;
  private TestBuffer test;
  private EndpointSender sender;

  @BeforeEach
  void open() throws IOException {
    open(8 << 20);
  }

  private void open(long maxBytes) throws IOException {
    test = new TestBuffer(directory, maxBytes, Disk.SYSTEM, "a");
    sender =
        new EndpointSender(
            ENDPOINT,
            test.buffer.cursor("a"),
            new TraceClient() {
              @Override
              public CompletableFuture<Answer> send(OtlpFormat format, Blocks body)
                  throws IOException {
                if (headersFailure != null) {
                  throw headersFailure;
                }
                ByteArrayOutputStream bytes = new ByteArrayOutputStream();
                body.list().forEach(bytes::writeBytes);
                sent.add(bytes.toString(UTF_8));
                answers.add(new CompletableFuture<>());
                return answers.getLast();
              }

              @Override
              public void close() {}
            },
            test.metrics,
            new Clocks(() -> nanos, InstantSource.system()),
            new SplittableRandom(7));
  }

  @Test
  void requestsAreSentInTheirOrderAFewAtATime() throws Exception {
    List<String> texts = IntStream.range(0, 10).mapToObj(String::valueOf).toList();
    test.append(texts.toArray(String[]::new));
    assertThat(sender.doWork()).isEqualTo(SteppedTask.UNTIL_WOKEN);
    assertThat(sent).isEqualTo(texts.subList(0, EndpointSender.MOST_IN_FLIGHT));

    answers.getFirst().complete(OK);
    sender.doWork();
    assertThat(sent).isEqualTo(texts.subList(0, EndpointSender.MOST_IN_FLIGHT + 1));
    assertThat(test.metrics.forwarded("a")).isEqualTo(1);
  }

  @Test
  void bytesInFlightAreBounded() throws Exception {
    String large = "x".repeat(EndpointSender.MOST_IN_FLIGHT_BYTES - 1);
    test.append(large, large, large);
    sender.doWork();
    assertThat(sent).hasSize(2);

    answers.getFirst().complete(OK);
    sender.doWork();
    assertThat(sent).hasSize(3);
  }

  @Test
  void thePositionStaysAtTheOldestRequestWithoutAnAnswer() throws Exception {
    test.append("1", "2", "3");
    sender.doWork();
    answers.get(1).complete(OK);
    answers.get(2).complete(OK);
    sender.doWork();
    assertThat(sender.backlogBytes()).isEqualTo(3 * 18);
    assertThat(sender.oldestSeconds()).isPositive();
    test.buffer.close();
    assertThat(new TestBuffer(directory, 8 << 20, Disk.SYSTEM, "a").drain("a"))
        .containsExactly("1", "2", "3");

    answers.getFirst().complete(OK);
    sender.doWork();
    assertThat(sender.backlogBytes()).isZero();
    assertThat(sender.oldestSeconds()).isZero();
    assertThat(test.metrics.forwarded("a")).isEqualTo(3);
  }

  @ParameterizedTest
  @ValueSource(ints = {408, 429, 502, 503, 504})
  void anOverloadedEndpointGetsTheSameRequestAfterAPause(int status) throws Exception {
    test.append("1");
    sender.doWork();
    answers.getFirst().complete(new Answer(status, 0, 0, ""));
    long pause = sender.doWork();
    assertThat(pause).isBetween(160_000_000L, 200_000_000L);
    nanos += pause - 1;
    sender.doWork();
    assertThat(sent).hasSize(1);
    nanos += 1;
    sender.doWork();

    assertThat(sent).containsExactly("1", "1");
    answers.get(1).complete(OK);
    sender.doWork();
    assertThat(test.metrics.retries("a")).isEqualTo(1);
    assertThat(test.metrics.forwarded("a")).isEqualTo(1);
    assertThat(sender.backlogBytes()).isZero();
  }

  @Test
  void pausesGrowAndAfterAFailureOneRequestProbes() throws Exception {
    test.append("1", "2", "3");
    sender.doWork();
    answers.forEach(answer -> answer.completeExceptionally(new ConnectException("refused")));
    nanos += sender.doWork();
    assertThat(test.metrics.retries("a")).isEqualTo(3);
    sender.doWork();
    assertThat(sent).containsExactly("1", "2", "3", "1");

    answers.getLast().completeExceptionally(new ConnectException("refused"));
    long pause = sender.doWork();
    assertThat(pause).isBetween(320_000_000L, 400_000_000L);
    nanos += pause;
    sender.doWork();
    assertThat(sent).hasSize(5).endsWith("1");

    answers.getLast().complete(OK);
    sender.doWork();
    assertThat(sent).hasSize(7).endsWith("2", "3");
  }

  @Test
  void anEndpointThatIsAwayForLongIsTriedAtLeastEveryThirtySeconds() throws Exception {
    test.append("1");
    for (int i = 0; i < 100; i++) {
      sender.doWork();
      answers.getLast().completeExceptionally(new ConnectException("refused"));
      long pause = sender.doWork();
      assertThat(pause).isBetween(1L, TimeUnit.SECONDS.toNanos(30));
      nanos += pause;
    }
    assertThat(sent).hasSize(100).containsOnly("1");
  }

  @Test
  void theEndpointsOwnDelayIsRespected() throws Exception {
    test.append("1");
    sender.doWork();
    answers.getFirst().complete(new Answer(429, 7_000, 0, ""));

    assertThat(sender.doWork()).isEqualTo(TimeUnit.SECONDS.toNanos(7));
  }

  @ParameterizedTest
  @ValueSource(ints = {301, 307, 400, 401, 404, 413, 500, 501})
  void aRefusedRequestIsDroppedAndTheNextOneSent(int status) throws Exception {
    test.append("1", "2");
    sender.doWork();
    answers.get(0).complete(new Answer(status, 0, 0, "no"));
    answers.get(1).complete(new Answer(200, 0, 5, ""));
    sender.doWork();

    assertThat(sent).containsExactly("1", "2");
    assertThat(test.dropped("a", Drop.REFUSED)).isEqualTo(1);
    assertThat(test.metrics.forwarded("a")).isEqualTo(1);
    assertThat(test.metrics.rejectedSpans("a")).isEqualTo(5);
    assertThat(sender.backlogBytes()).isZero();
  }

  @Test
  void anEndpointThatRefusesAfterAnOutageGetsSeveralRequestsAgain() throws Exception {
    test.append("1", "2", "3");
    sender.doWork();
    answers.forEach(answer -> answer.completeExceptionally(new ConnectException("refused")));
    nanos += sender.doWork();
    sender.doWork();
    answers.getLast().complete(new Answer(400, 0, 0, ""));
    sender.doWork();

    assertThat(sent).hasSize(6).endsWith("2", "3");
  }

  @Test
  void aRequestThatNeverSucceedsLeavesWithItsSegment() throws Exception {
    open(1_000);
    String text = "x".repeat(200);
    test.append(1 + text);
    sender.doWork();
    for (int i = 2; i <= 5; i++) {
      answers.getLast().complete(new Answer(503, 0, 0, ""));
      nanos += sender.doWork();
      assertThat(sent).containsOnly(1 + text);
      test.append(i + text);
      sender.doWork();
    }
    assertThat(sent).hasSize(5).endsWith(2 + text);
    assertThat(test.dropped("a", Drop.BUFFER_FULL)).isEqualTo(1);
    answers.getLast().complete(OK);
    sender.doWork();
    assertThat(sent).hasSize(8).endsWith(3 + text, 4 + text, 5 + text);
    answers.forEach(answer -> answer.complete(OK));
    sender.doWork();
    assertThat(sender.backlogBytes()).isZero();
    assertThat(test.metrics.forwarded("a")).isEqualTo(4);
  }

  @Test
  void unreadableHeadersAreRetried() throws Exception {
    test.append("1");
    headersFailure = new IOException("token: does not exist");
    long pause = sender.doWork();
    assertThat(pause).isBetween(1L, TimeUnit.SECONDS.toNanos(1));
    assertThat(sent).isEmpty();
    headersFailure = null;
    nanos += pause;
    sender.doWork();

    assertThat(sent).containsExactly("1");
  }

  @Test
  void drainEndsWhenTheBufferIsCompleteAndEmpty() throws Exception {
    test.append("1");
    boolean[] complete = {false};
    CountDownLatch idle = sender.drain(() -> complete[0]);
    sender.doWork();
    answers.getFirst().complete(OK);
    sender.doWork();
    assertThat(idle.getCount()).isEqualTo(1);
    test.append("2");
    complete[0] = true;
    sender.doWork();
    assertThat(idle.getCount()).isEqualTo(1);
    answers.getLast().complete(OK);
    sender.doWork();
    assertThat(idle.getCount()).isZero();
  }
}
