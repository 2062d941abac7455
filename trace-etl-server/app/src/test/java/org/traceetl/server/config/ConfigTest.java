package org.traceetl.server.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.traceetl.common.ConfigException;
import org.traceetl.common.Secret;
import org.traceetl.server.binding.ServerConfig;
import org.traceetl.server.config.SeriesConfig.Dimension;
import org.traceetl.server.config.SeriesConfig.Filter;
import org.traceetl.server.config.SeriesConfig.From;
import org.traceetl.server.edge.HalfTable;
import org.traceetl.server.features.hotspot.HotspotsConfig;
import org.traceetl.server.features.learn.LearnConfig;
import org.traceetl.server.ozhera.OzheraProfile;

class ConfigTest {
  @Test
  void whatIsMissingIsItsDefault() {
    assertThat(new WindowConfig(null, null, null, null, null).length())
        .isEqualTo(Duration.ofSeconds(15));
    assertThat(new RocketMqConfig(null, null, null, null, null, null).topic())
        .isEqualTo("trace-spans");
    assertThat(new HistogramConfig(null).boundsNanos()).hasSize(16).startsWith(2_000_000L);
    assertThat(DocumentsConfig.defaults().slowerThan()).isEqualTo(Duration.ofSeconds(1));
    assertThat(SeriesConfig.defaults().dimensions()).isEmpty();
  }

  @Test
  void aWrongValueIsNamed() {
    assertThatThrownBy(() -> new WindowConfig(Duration.ofMillis(1), null, null, null, null))
        .isInstanceOf(ConfigException.class)
        .hasMessage("trace-etl.window.length = PT0.001S: must be 100 ms to 1 h");
    assertThatThrownBy(() -> new WindowConfig(null, null, null, Duration.ofDays(2), null))
        .hasMessage("trace-etl.window.grace = PT48H: must be 1 s to 1 d");
    assertThatThrownBy(() -> new HistogramConfig(List.of(2.0, 1.0)))
        .hasMessageStartingWith(
            "trace-etl.histogram.bounds-millis = [2.0, 1.0]: must be ascending");
    assertThatThrownBy(() -> new HistogramConfig(List.of(Double.NaN)))
        .isInstanceOf(ConfigException.class);
    assertThatThrownBy(() -> new RocketMqConfig(null, null, null, "key", null, null))
        .hasMessageStartingWith("trace-etl.rocketmq.access-key = key");
    assertThatThrownBy(() -> new Filter(null, null, null))
        .hasMessageContaining("would exclude all spans");
    assertThatThrownBy(() -> new TemplatesConfig.Rule(null, "a(", "b"))
        .hasMessageStartingWith("trace-etl.series.templates.patterns.pattern = a(: must be");
    assertThatThrownBy(() -> new TemplatesConfig.Rule(null, "a(b)", "$1 $2"))
        .hasMessageStartingWith(
            "trace-etl.series.templates.patterns.template = $1 $2: refers to group");
    assertThatThrownBy(() -> new TemplatesConfig.Rule(null, "a", ""))
        .hasMessageStartingWith("trace-etl.series.templates.patterns.template = : must be 1 to");
  }

  @Test
  void theMemoryOfDeduplicationIsBounded() {
    assertThat(ServerConfig.defaults().deduplication().maxBytes()).isEqualTo(64L << 20);
    for (long wrong : new long[] {-1, 0, (1L << 20) - 1, (4L << 30) + 1}) {
      assertThatThrownBy(() -> new DeduplicationConfig(wrong))
          .hasMessage(
              "trace-etl.deduplication.max-bytes = " + wrong + ": must be 1048576 to 4294967296");
    }
  }

  @Test
  void theSilenceOfAgentsIsBounded() {
    assertThat(ServerConfig.defaults().agents().silence()).isEqualTo(Duration.ofMinutes(1));
    for (Duration wrong : List.of(Duration.ofMillis(29_999), Duration.ofMillis(3_600_001))) {
      assertThatThrownBy(() -> new AgentsConfig(wrong))
          .hasMessage("trace-etl.agents.silence = " + wrong + ": must be 30 s to 1 h");
    }
  }

  @Test
  void aWrongValueOfHalfEdgesIsNamed() {
    for (Duration wrong : List.of(Duration.ofMillis(999), Duration.ofMillis(600_001))) {
      assertThatThrownBy(
              () -> new EdgesConfig(null, null, null, null, wrong, null, null, null, null))
          .hasMessage("trace-etl.edges.max-wait = " + wrong + ": must be 1 s to 10 min");
    }
    for (int wrong : new int[] {-1, 0, HalfTable.MAX_CAPACITY + 1}) {
      assertThatThrownBy(
              () -> new EdgesConfig(null, null, null, null, null, wrong, null, null, null))
          .hasMessage("trace-etl.edges.max-open = " + wrong + ": must be 1 to 2097152");
    }
    for (int wrong : new int[] {-1, 0, 65}) {
      assertThatThrownBy(
              () -> new EdgesConfig(null, null, null, null, null, null, wrong, null, null))
          .hasMessage("trace-etl.edges.workers = " + wrong + ": must be 1 to 64");
    }
    for (int wrong : new int[] {-1, 0, 1_000_001}) {
      assertThatThrownBy(
              () -> new EdgesConfig(null, null, null, null, null, null, null, wrong, null))
          .hasMessage("trace-etl.edges.max-edges = " + wrong + ": must be 1 to 1000000");
    }
    assertThatThrownBy(() -> new EdgesConfig(null, " ", null, null, null, null, null, null, null))
        .hasMessage("trace-etl.edges.topic =  : must be the name of a topic");
    assertThatThrownBy(() -> new EdgesConfig(null, "a", "a", null, null, null, null, null, null))
        .hasMessage(
            "trace-etl.edges.journal-topic = a: must be the name of a topic, and not"
                + " trace-etl.edges.topic");
    assertThatThrownBy(() -> new EdgesConfig(null, null, null, "", null, null, null, null, null))
        .hasMessage("trace-etl.edges.consumer-group = : must be the name of a consumer group");
  }

  @Test
  void halfEdgesHaveTheBrokersOfTheSpansAndOwnNames() {
    RocketMqConfig spans =
        new RocketMqConfig(
            "mq:9876", null, "etl", "key", new Secret("hush"), 7, true, null, RocketMqConfig.ANY);
    RocketMqConfig edges = EdgesConfig.defaults().source(spans);

    assertThat(edges)
        .isEqualTo(
            new RocketMqConfig(
                "mq:9876",
                "trace-edges",
                "etl-edges",
                "key",
                new Secret("hush"),
                1,
                true,
                null,
                RocketMqConfig.SPAN_BATCH));
    assertThat(
            new EdgesConfig(null, null, null, "graph", null, null, null, null, null)
                .source(spans)
                .consumerGroup())
        .isEqualTo("graph");
  }

  @Test
  void dimensionsOfEdgesHaveLabelsOfTheirOwn() {
    assertThat(dimensions("http.route", "service.namespace").dimensions()).hasSize(2);
    assertThatThrownBy(() -> dimensions("a", "b", "c", "d", "e", "f", "g", "h", "i"))
        .hasMessageContaining("trace-etl.edges.dimensions = 9 of them: must be at most 8");
    for (String other : List.of("http.route", "http_route")) {
      assertThatThrownBy(() -> dimensions("http.route", other))
          .hasMessageContaining("trace-etl.edges.dimensions = " + other)
          .hasMessageContaining("must not have the labels of another one: client_http_route");
    }
    for (String wrong : List.of("", "k".repeat(257), "\ud800")) {
      assertThatThrownBy(() -> dimensions(wrong))
          .hasMessageContaining("must be the key of an attribute, of 1 to 256 bytes of UTF-8");
    }
  }

  private static EdgesConfig dimensions(String... keys) {
    return new EdgesConfig(null, null, null, null, null, null, null, null, List.of(keys));
  }

  @Test
  void halfEdgesShareNoTopicAndNoGroup() {
    assertThat(
            with(new EdgesConfig(false, "trace-spans", null, null, null, null, null, null, null))
                .edges())
        .as("disabled")
        .isNotNull();
    refused(
        new EdgesConfig(true, "trace-spans", null, null, null, null, null, null, null),
        "edges.topic");
    refused(
        new EdgesConfig(true, "trace-windows", null, null, null, null, null, null, null),
        "edges.topic");
    refused(
        new EdgesConfig(true, null, "trace-windows", null, null, null, null, null, null),
        "edges.journal-topic");
    refused(
        new EdgesConfig(true, null, null, "trace-etl-server", null, null, null, null, null),
        "edges.consumer-group");
    refused(
        new EdgesConfig(true, "trace-routing", null, null, null, null, null, null, null),
        "hotspots.topic");
  }

  private static void refused(EdgesConfig edges, String key) {
    assertThatThrownBy(() -> with(edges))
        .isInstanceOf(ConfigException.class)
        .hasMessageStartingWith("trace-etl." + key + " = ");
  }

  private static ServerConfig with(EdgesConfig edges) {
    return new ServerConfig(
        null, null, null, null, null, null, null, null, null, null, null, null, edges, null, null,
        null);
  }

  @Test
  void eventsAreCountedWhereItIsSaid() {
    EventsConfig enabled = new EventsConfig(true, null);
    SeriesConfig series = enabled.addTo(SeriesConfig.defaults(), StandardProfile.OTEL);
    assertThat(series.dimensions())
        .extracting(Dimension::label)
        .containsExactly("event_name", "exception_type");
    assertThat(series.countsEvents()).isTrue();
    assertThat(enabled.addTo(series, StandardProfile.OTEL)).isSameAs(series);
    for (Profile profile : Profile.all()) {
      assertThat(EventsConfig.defaults().addTo(SeriesConfig.defaults(), profile).countsEvents())
          .isFalse();
    }
    EventsConfig wanted = new EventsConfig(true, List.of("db.operation.name"));
    assertThat(wanted.addTo(SeriesConfig.defaults(), StandardProfile.TEMPO).dimensions())
        .extracting(Dimension::label)
        .containsExactly("event_name", "db_operation_name");
    assertThatThrownBy(() -> wanted.addTo(SeriesConfig.defaults(), new OzheraProfile()))
        .hasMessageStartingWith("trace-etl.events.enabled = true: must be absent");
    assertThatThrownBy(() -> new EventsConfig(null, List.of("")))
        .hasMessageStartingWith("trace-etl.events.dimensions = : must name");
    SeriesConfig ofEvent =
        SeriesConfig.defaults().withDimensions(List.of(new Dimension("a", null, From.EVENT)));
    for (EventsConfig any : List.of(enabled, EventsConfig.defaults())) {
      assertThatThrownBy(() -> any.addTo(ofEvent, StandardProfile.OTEL))
          .hasMessageStartingWith("trace-etl.series.dimensions[0].from = event: must be span");
    }
    SeriesConfig ofName =
        SeriesConfig.defaults()
            .withDimensions(List.of(new Dimension("event.name", "x", From.EVENT_NAME)));
    assertThatThrownBy(() -> enabled.addTo(ofName, StandardProfile.OTEL))
        .hasMessageStartingWith("trace-etl.series.dimensions[0].from = event_name: must be span");
    SeriesConfig ofSpan =
        SeriesConfig.defaults()
            .withDimensions(List.of(new Dimension("exception.type", null, From.SPAN)));
    assertThat(EventsConfig.defaults().addTo(ofSpan, StandardProfile.OTEL)).isSameAs(ofSpan);
    assertThatThrownBy(() -> enabled.addTo(ofSpan, StandardProfile.OTEL))
        .hasMessage(
            "trace-etl.events.dimensions = exception.type: must have a label that no other"
                + " attribute and no attribute of trace-etl.series.dimensions has: exception_type");
  }

  @Test
  void aWrongValueOfLearntNamesIsNamed() {
    assertThatThrownBy(() -> new LearnConfig(null, 19, null, null))
        .hasMessage("trace-etl.series.templates.learn.more-than = 19: must be 20 to 10000");
    assertThatThrownBy(() -> new LearnConfig(null, null, 1_001, null))
        .hasMessage("trace-etl.series.templates.learn.max-rules = 1001: must be 1 to 1000");
  }

  @Test
  void aWrongValueOfHotspotsIsNamed() {
    assertThatThrownBy(() -> hotspots(null, 4, 2, null, null))
        .hasMessage("trace-etl.hotspots.max-queues = 2: must be 4 to 1024");
    assertThatThrownBy(() -> hotspots(null, null, null, 1.0, null))
        .hasMessage("trace-etl.hotspots.grow-above = 1.0: must be above 1 and at most 100");
    assertThatThrownBy(() -> hotspots(null, null, null, Double.NaN, null))
        .isInstanceOf(ConfigException.class);
    assertThatThrownBy(() -> hotspots(null, null, null, null, 1.0))
        .hasMessageStartingWith("trace-etl.hotspots.shrink-below = 1.0: must be above 0");
    assertThatThrownBy(() -> hotspots(Duration.ZERO, null, null, null, null))
        .hasMessage("trace-etl.hotspots.interval = PT0S: must be 100 ms to 2 h");
  }

  @Test
  void betweenTwoLooksForHotspotsThereIsRoomForAWindow() {
    HotspotsConfig standard = HotspotsConfig.defaults();

    assertThat(standard.over(Duration.ofSeconds(15))).isEqualTo(standard);
    assertThat(standard.over(Duration.ofHours(1)).interval()).isEqualTo(Duration.ofHours(2));
  }

  private static HotspotsConfig hotspots(
      Duration interval, Integer min, Integer max, Double growAbove, Double shrinkBelow) {
    return new HotspotsConfig(
        null, null, interval, min, max, growAbove, null, shrinkBelow, null, null, null, null, null);
  }

  @Test
  void aSecretIsNotPrinted() {
    assertThat(new RocketMqConfig(null, null, null, "key", new Secret("hush"), null).toString())
        .contains("key")
        .doesNotContain("hush");
    assertThat(new RocketMqConfig(null, null, null, "", new Secret(""), null).secretKey()).isNull();
  }

  @Test
  void dimensionsAreToldApart() {
    Dimension ofSpan = new Dimension("zone", "span_zone", From.SPAN);
    Dimension ofResource = new Dimension("zone", "host_zone", From.RESOURCE);
    Dimension ofAny = new Dimension("zone", "zone", From.ANY);

    assertThat(series(ofSpan, ofResource).dimensions()).hasSize(2);
    assertThatThrownBy(() -> series(ofSpan, ofAny))
        .hasMessageStartingWith("trace-etl.series.dimensions[1].attribute = zone");
    assertThatThrownBy(() -> series(ofSpan, new Dimension("other", "span_zone", null)))
        .hasMessageStartingWith("trace-etl.series.dimensions[1].label = span_zone");
    assertThat(new Dimension("http.route", null, null).label()).isEqualTo("http_route");
    assertThatThrownBy(() -> new Dimension("a", "le", null)).isInstanceOf(ConfigException.class);
  }

  private static SeriesConfig series(Dimension... dimensions) {
    return new SeriesConfig(List.of(dimensions), null, null, null, null, null, null, null, null);
  }

  @Test
  void filterWithoutSpanNameMatchesAll() {
    assertThat(new Filter("a", null, Set.of(SpanKind.SERVER)).spanName()).isEqualTo("*");
  }
}
