package org.traceetl.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.traceetl.common.Clocks;
import org.traceetl.proto.LearntNames;
import org.traceetl.proto.TraceId;
import org.traceetl.server.consume.retained.RetainedMessages;
import org.traceetl.server.features.index.IndexConfig;
import org.traceetl.server.features.index.TraceIndex;
import org.traceetl.server.features.why.Question;
import org.traceetl.server.features.why.Why;
import org.traceetl.server.features.why.WhyAnswer;
import org.traceetl.server.features.why.WhyConfig;
import org.traceetl.server.series.NamePatterns;
import org.traceetl.server.series.SpanNames;
import org.traceetl.server.window.TraceDocument;
import org.traceetl.server.window.TraceDocument.Reason;
import org.traceetl.testkit.Elasticsearch;

/** What failed spans in a real index have in common, if the broker has no message of their time. */
@Tag("elasticsearch")
final class WhyFromIndexTest {
  private static final String SHOP = "shop";
  private static final Instant FROM =
      Instant.now().minus(Duration.ofHours(30)).truncatedTo(ChronoUnit.MINUTES);
  private static final Duration INTERVAL = Duration.ofMinutes(10);
  private static final Duration EARLIER = Duration.ofHours(1);
  private static final int HOSTS = 10;
  private static final int ERROR = 2;

  private final SplittableRandom random = new SplittableRandom(7);
  private TraceIndex index;

  @BeforeEach
  void open() throws Exception {
    IndexConfig.Elasticsearch elasticsearch =
        new IndexConfig.Elasticsearch(
            List.of(Elasticsearch.shared().url()),
            "why-" + ProcessHandle.current().pid() + "-" + System.nanoTime(),
            Duration.ofDays(7),
            Duration.ofSeconds(30),
            null,
            null,
            null,
            null);
    index = TraceIndex.open(IndexConfig.of(elasticsearch), Clocks.SYSTEM);
  }

  @AfterEach
  void close() {
    // Null if Elasticsearch did not start.
    if (index != null) {
      index.close();
    }
  }

  private TraceDocument failed(Instant begin, String host, double represents) {
    Map<String, String> attributes = new HashMap<>();
    attributes.put("host.name", host);
    attributes.put("url.path", "/items/" + random.nextInt(1_000_000));
    attributes.put("error.type", "java.io.IOException");
    if (represents > 1) {
      attributes.put(TraceDocument.REPRESENTS, Double.toString(represents));
    }
    return document(begin, Reason.ERROR, attributes);
  }

  private TraceDocument document(Instant begin, Reason reason, Map<String, String> attributes) {
    return new TraceDocument(
        TraceId.toHex(random.nextLong(), random.nextLong()),
        TraceId.toHex(0, random.nextLong()).substring(TraceId.HEX_LENGTH / 2),
        SHOP,
        "GET /items",
        2,
        reason == Reason.EXEMPLAR ? 0 : ERROR,
        "",
        TimeUnit.MILLISECONDS.toNanos(begin.toEpochMilli()) + random.nextLong(INTERVAL.toNanos()),
        TimeUnit.MILLISECONDS.toNanos(20),
        reason,
        attributes);
  }

  private String host() {
    return "host-" + random.nextInt(HOSTS);
  }

  private void store(List<TraceDocument> documents) throws IOException {
    for (int i = 0; i < documents.size(); i += 500) {
      List<TraceDocument> part = documents.subList(i, Math.min(documents.size(), i + 500));
      assertThat(index.write(part).kept()).isEqualTo(part.size());
    }
    Awaitility.await()
        .atMost(Duration.ofSeconds(120))
        .until(this::found, Integer.valueOf(documents.size())::equals);
  }

  private int found() throws Exception {
    List<TraceDocument> found = new ArrayList<>();
    index.read(SHOP, null, 0, Long.MAX_VALUE, found::add);
    return found.size();
  }

  private WhyAnswer ask(int maxDocuments, Duration earlier) throws Exception {
    return new Why(
            new WhyConfig(null, Duration.ofMinutes(10), null, null, maxDocuments, null),
            application ->
                new SpanNames(new NamePatterns(List.of()), true, 1_000, () -> LearntNames.NONE),
            1_000,
            // The broker has deleted all messages of both intervals.
            (from, until, limits, reader) -> {
              reader.begin(0);
              return new RetainedMessages.Extent(from.toEpochMilli(), true);
            },
            index,
            Clocks.SYSTEM)
        .answer(new Question(SHOP, null, null, true, 0, FROM, FROM.plus(INTERVAL), earlier));
  }

  @Test
  void theHostThatFailsSinceIsFirst() throws Exception {
    List<TraceDocument> documents = new ArrayList<>();
    for (int i = 0; i < 200; i++) {
      documents.add(failed(FROM.minus(EARLIER), host(), 1));
      documents.add(failed(FROM, i % 2 == 0 ? "host-bad" : host(), 3));
      // Exemplars of a rare series, which do not count.
      documents.add(
          document(FROM, Reason.EXEMPLAR, Map.of("host.name", "host-rare", "rare", "yes")));
    }
    store(documents);

    WhyAnswer answer = ask(50_000, EARLIER);

    assertThat(answer.source()).isEqualTo("index");
    assertThat(answer.complete()).isTrue();
    assertThat(answer.causes().getFirst().attributes())
        .containsExactly(new WhyAnswer.Attribute("host.name", "host-bad"));
    assertThat(answer.causes().getFirst().selectionShare()).isEqualTo(0.5);
    assertThat(answer.selectionTraces()).isEqualTo(200);
    assertThat(answer.baselineTraces()).isEqualTo(200);
    assertThat(answer.selectedSpans()).isEqualTo(600);
    assertThat(answer.toString()).doesNotContain("rare").doesNotContain(TraceDocument.REPRESENTS);
  }

  @Test
  void documentsWeighWhatTheyRepresent() throws Exception {
    List<TraceDocument> documents = new ArrayList<>();
    for (int i = 0; i < 300; i++) {
      // The same shares; in the later interval, half of those of two hosts were held back.
      documents.add(failed(FROM.minus(EARLIER), "host-" + i % 3, 1));
      if (i % 3 == 0 || i % 2 == 0) {
        documents.add(failed(FROM, "host-" + i % 3, i % 3 == 0 ? 1 : 2));
      }
    }
    store(documents);

    WhyAnswer answer = ask(50_000, EARLIER);

    assertThat(answer.selectionTraces()).isEqualTo(200);
    assertThat(answer.selectedSpans()).isEqualTo(300);
    assertThat(answer.causes()).isEmpty();
  }

  @Test
  void theRestIsNotInTheIndex() {
    assertThatThrownBy(() -> ask(50_000, null))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("only slow and failed spans")
        .hasMessageContaining("baseline=1h");
  }

  @Test
  void documentsOfARequestAreBounded() throws Exception {
    List<TraceDocument> documents = new ArrayList<>();
    for (int i = 0; i < 1_500; i++) {
      documents.add(failed(FROM.minus(EARLIER), host(), 1));
      documents.add(failed(FROM, host(), 1));
    }
    store(documents);

    WhyAnswer answer = ask(1_000, EARLIER);

    assertThat(answer.complete()).isFalse();
    assertThat(answer.selectionTraces()).isEqualTo(1_000);
    assertThat(answer.from()).isAfter(FROM);
  }
}
