package org.traceetl.agent.filter;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.traceetl.agent.config.FiltersFile;
import org.traceetl.agent.filter.AgentSpanFilter.Change;
import org.traceetl.agent.filter.AgentSpanFilter.Verdict;
import org.traceetl.agent.flow.Attributes;
import org.traceetl.agent.flow.SpanEvents;
import org.traceetl.agent.flow.SpanView;
import org.traceetl.common.ConfigException;

final class AgentSpanFilterTest {
  private static final long MILLIS = 1_000_000;
  private static final int CLIENT = 3;
  private static final int ERROR = 2;

  private final AgentSpanFilter filter = new AgentSpanFilter();
  private final SpanView span = new SpanView();

  AgentSpanFilterTest() {
    span.traceIdHigh = 1;
    span.traceIdLow = 2;
    span.spanId = 3;
    span.parentSpanId = 4;
    span.kind = CLIENT;
    span.startUnixNanos = 5;
    span.durationNanos = MILLIS;
    name("GET");
    message("");
    add(span.attributes, "db.system", "redis");
    add(span.attributes, "db.statement", "GET user:1");
  }

  @Test
  void anApplicationWithoutFiltersHasNone() throws ConfigException {
    assertThat(of("a", "")).isNull();
    assertThat(of("a", "drop: [{application: b*}]")).isNull();
    assertThat(of("a", "drop: [{application: [b, a]}]")).isNotNull();
    assertThat(of("a", "limits: {max-name-bytes: 10}")).isNotNull();
  }

  @Test
  void textsOfEventsAreChangedAsThoseOfSpans() throws ConfigException {
    byte[] name = "retry 17".getBytes(UTF_8);
    byte[] key = "exception.type".getBytes(UTF_8);
    byte[] value = "Error4711".getBytes(UTF_8);
    span.events.add(name, 0, name.length);
    span.events.addAttribute(key, 0, key.length, value, 0, value.length);
    ApplicationFilters filters =
        of("a", "redact: [{pattern: '[0-9]+', in: [names, values]}]\nlimits: {max-value-bytes: 5}");

    assertThat(filter.apply(filters, span)).isEqualTo(Verdict.KEPT);
    SpanEvents events = filter.span().events;
    assertThat(events.size()).isEqualTo(1);
    assertThat(text(events.name(0), events.nameOffset(0), events.nameLength(0)))
        .isEqualTo("retry [redacted]");
    Attributes attributes = events.attributes();
    assertThat(text(attributes.value(0), attributes.valueOffset(0), attributes.valueLength(0)))
        .isEqualTo("Error");
  }

  private static String text(byte[] bytes, int offset, int length) {
    return new String(bytes, offset, length, UTF_8);
  }

  @Test
  void applicationsForWhichTheSameRulesAreHaveEqualSelections() throws ConfigException {
    Filters filters =
        new Filters(
            FiltersFile.parse(
                """
                drop: [{application: a*, attributes: {k: v}}, {application: '*'}]
                sample: [{application: b, ratio: 0.5}]
                attributes: [{application: [c, a1], span: [x]}]
                """
                    .getBytes(UTF_8)));

    assertThat(select(filters, "a2")).isEqualTo(select(filters, "a3"));
    assertThat(select(filters, "d")).isEqualTo(select(filters, "e"));
    assertThat(select(filters, "c").hashCode()).isEqualTo(select(filters, "c").hashCode());
    assertThat(Stream.of("a1", "a2", "b", "c", "d").map(name -> select(filters, name)))
        .doesNotHaveDuplicates();
  }

  private static Filters.Selection select(Filters filters, String application) {
    byte[] name = application.getBytes(UTF_8);
    return filters.select(name, 0, name.length);
  }

  @Test
  void unremarkableSpansOfARuleAreMeasuredAndTheOthersSent() throws ConfigException {
    ApplicationFilters redis =
        of("a", "drop: [{kind: client, attributes: {db.system: redis}, unless-slower-than: 50ms}]");

    assertThat(filter.apply(redis, span)).isEqualTo(Verdict.MEASURED);
    span.durationNanos = 50 * MILLIS - 1;
    assertThat(filter.apply(redis, span)).isEqualTo(Verdict.MEASURED);
    span.durationNanos = 50 * MILLIS;
    assertThat(filter.apply(redis, span)).isEqualTo(Verdict.KEPT);
    assertThat(filter.span()).isSameAs(span);
    span.durationNanos = MILLIS;
    span.status = ERROR;
    assertThat(filter.apply(redis, span)).isEqualTo(Verdict.KEPT);
    span.status = 1;
    span.kind = 2;
    assertThat(filter.apply(redis, span)).isEqualTo(Verdict.KEPT);
    span.kind = CLIENT;
    span.attributes.clear();
    add(span.attributes, "db.system", "redis2");
    assertThat(filter.apply(redis, span)).isEqualTo(Verdict.KEPT);
  }

  @Test
  void theFirstRuleThatMatchesDecides() throws ConfigException {
    ApplicationFilters filters =
        of("a", "drop: [{name: G*, keep: nothing}, {keep: metrics}, {name: SET, keep: nothing}]");

    assertThat(filter.apply(filters, span)).isEqualTo(Verdict.DROPPED);
    name("SET");
    assertThat(filter.apply(filters, span)).isEqualTo(Verdict.MEASURED);
  }

  @Test
  void whatIsMeasuredHasItsDimensionsAlone() throws ConfigException {
    ApplicationFilters filters =
        of(
            "a",
            """
            drop: [{dimensions: db.sys*}]
            attributes: [{span: other}]
            redact: [{pattern: fine}]
            limits: {max-status-message-bytes: 5}
            """);
    message("fine");
    span.samplingThreshold = 7;

    assertThat(filter.apply(filters, span)).isEqualTo(Verdict.MEASURED);
    assertThat(texts(filter.span().attributes)).isEqualTo(Map.of("db.system", "redis"));
    assertThat(nameOf(filter.span())).isEqualTo("GET");
    assertThat(messageOf(filter.span())).isEmpty();
    assertThat(filter.span().durationNanos).isEqualTo(MILLIS);
    assertThat(filter.span().kind).isEqualTo(CLIENT);
    assertThat(filter.span().samplingThreshold).isEqualTo(7);
    assertThat(filter.take(Change.ATTRIBUTE_NOT_ALLOWED)).isZero();
    assertThat(filter.take(Change.STATUS_MESSAGE_REDACTED)).isZero();
    assertThat(filter.take(Change.STATUS_MESSAGE_CUT)).isZero();
  }

  @Test
  void attributesThatAreNotAllowedOrTooManyAreLeftOutAndCounted() throws ConfigException {
    ApplicationFilters filters =
        of("a", "attributes: [{span: [db.*, c]}]\nlimits: {max-attributes: 2}");
    add(span.attributes, "b", "not allowed");
    add(span.attributes, "c", "too many");

    assertThat(filter.apply(filters, span)).isEqualTo(Verdict.KEPT);
    assertThat(texts(filter.span().attributes)).containsOnlyKeys("db.system", "db.statement");
    assertThat(filter.span().traceIdLow).isEqualTo(2);
    assertThat(filter.span().parentSpanId).isEqualTo(4);
    assertThat(filter.take(Change.ATTRIBUTE_NOT_ALLOWED)).isOne();
    assertThat(filter.take(Change.ATTRIBUTE_ABOVE_LIMIT)).isOne();
    assertThat(filter.take(Change.ATTRIBUTE_ABOVE_LIMIT)).isZero();
    // The decoder owns its span, which must not change.
    assertThat(span.attributes.size()).isEqualTo(4);
  }

  @Test
  void aResourceKeepsItsServiceNameWhateverIsAllowed() throws ConfigException {
    Attributes resource = new Attributes();
    add(resource, "host.name", "host");
    add(resource, "service.name", "checkout");
    add(resource, "k8s.pod.name", "pod");
    ApplicationFilters some =
        of("a", "attributes: [{resource: [k8s.*, host.*]}]\nlimits: {max-attributes: 1}");

    assertThat(texts(filter.resource(some, resource)))
        .containsOnlyKeys("host.name", "service.name");
    ApplicationFilters none =
        of("a", "attributes: [{resource: []}]\nlimits: {max-attributes: 0, max-value-bytes: 3}");
    assertThat(texts(filter.resource(none, resource)))
        .isEqualTo(Map.of("service.name", "checkout"));
  }

  @ParameterizedTest
  @CsvSource({
    "aé€😀x, 1, a",
    "aé€😀x, 2, a",
    "aé€😀x, 3, aé",
    "aé€😀x, 5, aé",
    "aé€😀x, 6, aé€",
    "aé€😀x, 9, aé€",
    "aé€😀x, 10, aé€😀",
    "aé€😀x, 11, aé€😀x",
    "aé€😀x, 12, aé€😀x"
  })
  void textsAreCutBetweenCharacters(String text, int bytes, String cut) throws ConfigException {
    ApplicationFilters filters =
        of(
            "a",
            "limits: {max-value-bytes: %1$d, max-name-bytes: %1$d, max-status-message-bytes: %1$d}"
                .formatted(bytes));
    name(text);
    message(text);
    span.attributes.clear();
    add(span.attributes, "key of any length", text);
    filter.apply(filters, span);

    assertThat(nameOf(filter.span())).isEqualTo(cut);
    assertThat(messageOf(filter.span())).isEqualTo(cut);
    assertThat(texts(filter.span().attributes)).containsValue(cut);
    long cuts = text.equals(cut) ? 0 : 1;
    assertThat(filter.take(Change.NAME_CUT)).isEqualTo(cuts);
    assertThat(filter.take(Change.VALUE_CUT)).isEqualTo(cuts);
    assertThat(filter.take(Change.STATUS_MESSAGE_CUT)).isEqualTo(cuts);
  }

  @Test
  void whatIsRedactedIsRedactedInItsPlaceAlone() throws ConfigException {
    ApplicationFilters filters =
        of("a", "redact: [{pattern: 'user:[0-9]+', in: values, attributes: [db.*], replace: u}]");
    name("GET user:1");
    add(span.attributes, "other", "user:2");
    add(span.attributes, "db.more", "user:3 user:4!");
    filter.apply(filters, span);

    assertThat(nameOf(filter.span())).isEqualTo("GET user:1");
    assertThat(texts(filter.span().attributes))
        .isEqualTo(
            Map.of(
                "db.system", "redis",
                "db.statement", "GET u",
                "other", "user:2",
                "db.more", "u u!"));
    assertThat(filter.take(Change.VALUE_REDACTED)).isEqualTo(2);
    assertThat(filter.take(Change.NAME_REDACTED)).isZero();
  }

  @Test
  void redactionsFollowOneAnotherAndComeBeforeTheCut() throws ConfigException {
    ApplicationFilters filters =
        of(
            "a",
            """
            redact:
              - {pattern: '[0-9]{4}', replace: '#'}
              - {pattern: '##', replace: '$1'}
            limits: {max-name-bytes: 5}
            """);
    name("id 12345678 and more");
    message("1234");
    filter.apply(filters, span);

    assertThat(nameOf(filter.span())).isEqualTo("id $1");
    assertThat(messageOf(filter.span())).isEqualTo("#");
    assertThat(filter.take(Change.NAME_REDACTED)).isOne();
    assertThat(filter.take(Change.STATUS_MESSAGE_REDACTED)).isOne();
    assertThat(filter.take(Change.NAME_CUT)).isOne();
  }

  @Test
  void theServiceNameIsRedactedAsOtherValues() throws ConfigException {
    Attributes resource = new Attributes();
    add(resource, "service.name", "of ann@example.org");

    assertThat(texts(filter.resource(of("a", "redact: [{pattern: '\\w+@[\\w.]+'}]"), resource)))
        .isEqualTo(Map.of("service.name", "of [redacted]"));
  }

  @Test
  void malformedBytesHideNothing() throws ConfigException {
    byte[] text = "x token=abc".getBytes(UTF_8);
    // Begins a character of four bytes, but the others are missing.
    text[1] = (byte) 0xf0;
    span.name = text;
    span.nameOffset = 0;
    span.nameLength = text.length;
    filter.apply(of("a", "redact: [{pattern: 'token=\\w+'}]"), span);

    assertThat(nameOf(filter.span())).isEqualTo("x\ufffd[redacted]");
  }

  @Test
  void aTextThatRedactionWouldMakeHugeIsBounded() throws ConfigException {
    name("1".repeat(200_000));
    filter.apply(of("a", "redact: [{pattern: '1', replace: '" + "x".repeat(1_000) + "'}]"), span);

    assertThat(filter.span().nameLength).isEqualTo(65_535);
    assertThat(filter.take(Change.NAME_CUT)).isOne();
  }

  @Test
  void whatFollowsTooManyMatchesIsLeftOut() throws ConfigException {
    ApplicationFilters filters = of("a", "redact: [{pattern: '1', replace: x}]");
    name("1".repeat(1_000) + " and this");
    filter.apply(filters, span);
    assertThat(nameOf(filter.span())).isEqualTo("x".repeat(1_000) + " and this");
    assertThat(filter.take(Change.NAME_CUT)).isZero();

    name("1".repeat(1_000) + " and 1");
    filter.apply(filters, span);
    assertThat(nameOf(filter.span())).isEqualTo("x".repeat(1_000));
    assertThat(filter.take(Change.NAME_CUT)).isOne();
  }

  @Test
  void aTextThatIsCutBeforeItIsRedactedIsCountedOnce() throws ConfigException {
    ApplicationFilters filters =
        of("a", "redact: [{pattern: '1+', replace: ''}]\nlimits: {max-value-bytes: 65000}");
    name("1".repeat(70_000));
    message("");
    add(span.attributes, "long", "x".repeat(70_000));
    Attributes resource = new Attributes();
    add(resource, "service.name", "2".repeat(70_000));
    filter.apply(filters, span);

    assertThat(filter.span().nameLength).isZero();
    assertThat(filter.take(Change.NAME_CUT)).isOne();
    assertThat(filter.take(Change.VALUE_CUT)).isOne();
    assertThat(filter.take(Change.STATUS_MESSAGE_CUT)).isZero();
    assertThat(texts(filter.resource(filters, resource))).containsValue("2".repeat(65_535));
    assertThat(filter.take(Change.VALUE_CUT)).isOne();
  }

  private static ApplicationFilters of(String application, String yaml) throws ConfigException {
    byte[] name = application.getBytes(UTF_8);
    Filters filters = new Filters(FiltersFile.parse(yaml.getBytes(UTF_8)));
    return filters.of(filters.select(name, 0, name.length));
  }

  private void name(String name) {
    span.name = ("<" + name + ">").getBytes(UTF_8);
    span.nameOffset = 1;
    span.nameLength = span.name.length - 2;
  }

  private void message(String message) {
    span.statusMessage = message.getBytes(UTF_8);
    span.statusMessageLength = span.statusMessage.length;
  }

  private static void add(Attributes attributes, String key, String value) {
    byte[] keyBytes = key.getBytes(UTF_8);
    byte[] valueBytes = ("<" + value + ">").getBytes(UTF_8);
    attributes.add(keyBytes, 0, keyBytes.length, valueBytes, 1, valueBytes.length - 2);
  }

  private static String nameOf(SpanView span) {
    return new String(span.name, span.nameOffset, span.nameLength, UTF_8);
  }

  private static String messageOf(SpanView span) {
    return new String(
        span.statusMessage, span.statusMessageOffset, span.statusMessageLength, UTF_8);
  }

  private static Map<String, String> texts(Attributes attributes) {
    Map<String, String> texts = new LinkedHashMap<>();
    for (int i = 0; i < attributes.size(); i++) {
      texts.put(
          new String(attributes.key(i), attributes.keyOffset(i), attributes.keyLength(i), UTF_8),
          new String(
              attributes.value(i), attributes.valueOffset(i), attributes.valueLength(i), UTF_8));
    }
    return texts;
  }
}
