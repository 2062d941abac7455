package org.traceetl.agent.source.file;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.traceetl.agent.source.file.TraceLines.line;
import static org.traceetl.agent.source.file.TraceLines.tag;

import java.util.LinkedHashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.traceetl.agent.source.payload.RecordingSink;
import org.traceetl.agent.source.payload.RecordingSink.Recorded;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Tests that a line of a trace log gives the same texts as the message of OzHera's own agent. Spans
 * are thus in the same series with either agent.
 */
final class OzheraTextsTest {
  private static final JsonMapper JSON = new JsonMapper();
  private static final int LONGEST = 500;

  private static final String SERVER =
      "{\"serviceName\":\"314-shop-front\",\"tags\":["
          + tag("service.name", "string", "314-shop-front")
          + ","
          + tag("ip", "string", "10.0.0.7")
          + ","
          + tag("host.name", "string", "shop-1")
          + ","
          + tag("service.env", "string", "staging")
          + ","
          + tag("service.env.id", "string", "42")
          + "]}";

  @Test
  void whatMakesSeriesIsTheSame() {
    String tags =
        "["
            + String.join(
                ",",
                tag("span.kind", "string", "client"),
                tag("error", "bool", "true"),
                tag("http.status_code", "int64", "502"),
                tag("net.peer.port", "int64", "6379"),
                tag("hera.annotations", "bool", "true"),
                tag("weight", "float64", "0.1"),
                tag("db.connection_string", "string", "mysql://db:3306"),
                tag("db.statement", "string", written("select *\n\tfrom cart\r\nwhere a = \"b\"")))
            + "]";
    String line = line("314-shop-front", "query", "ERROR", 1, tags, SERVER, "[]");

    Message ozheras = ozheras(line);
    Recorded ours = decode(line);

    assertThat(ours.attributes())
        .isEqualTo(ozheras.attributes())
        .containsEntry("error", "true")
        .containsEntry("http.status_code", "502")
        .containsEntry("db.statement", "select *\n\tfrom cart\r\nwhere a = \"b\"");
    assertThat(ours.resource())
        .isEqualTo(ozheras.resource())
        .containsEntry("service.name", "314-shop-front")
        .containsEntry("ip", "10.0.0.7")
        .containsEntry("service.env", "staging")
        .containsEntry("service.env.id", "42");
    assertThat(ours.name()).isEqualTo(ozheras.name());
    assertThat(ours.startUnixNanos()).isEqualTo(ozheras.startEpochNanos());
    assertThat(ours.durationNanos()).isEqualTo(ozheras.endEpochNanos() - ozheras.startEpochNanos());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "plain",
        "{find: \"cart\", filter: {_id: 1}}",
        "a\nb",
        "a\r\nb",
        "at\tat x",
        "# ## #### #####",
        "größe 😀",
        "",
      })
  void aTextEqualsOzherasAndTheApplications(String text) {
    String line = line("a", "x", "UNSET", 1, "[" + statement(text) + "]", SERVER, "[]");
    assertThat(decode(line).attributes())
        .isEqualTo(ozheras(line).attributes())
        .containsEntry("db.statement", text);
  }

  @Test
  void aCutTextIsTheSame() {
    String line =
        line("a", "x", "UNSET", 1, "[" + statement("v".repeat(2 * LONGEST)) + "]", SERVER, "[]");
    assertThat(decode(line).attributes())
        .isEqualTo(ozheras(line).attributes())
        .containsEntry("db.statement", "v".repeat(LONGEST) + "......");
  }

  /** Unlike this agent, OzHera's doubles a backslash, and loses one before a quote. */
  @ParameterizedTest
  @ValueSource(strings = {"like 'a\\_b'", "say \\\"hello\\\""})
  void aBackslashEqualsTheApplications(String text) {
    String line = line("a", "x", "UNSET", 1, "[" + statement(text) + "]", SERVER, "[]");
    assertThat(decode(line).attributes()).containsEntry("db.statement", text);
    assertThat(ozheras(line).attributes().get("db.statement")).isNotEqualTo(text);
  }

  @ParameterizedTest
  @CsvSource({"' ||| '", "' | '", "''"})
  void everySeparatorAfterTheTimeIsRead(String separator) {
    String tags = "[" + statement("a | b") + "]";
    String line = line("a", "x", "UNSET", 1, tags, SERVER, "[]");
    String time = line.substring(0, line.indexOf(" ||| "));
    String other =
        (separator.isEmpty() ? "" : time + separator)
            + line.substring(time.length() + " ||| ".length());
    assertThat(decode(other)).isEqualTo(decode(line));
  }

  private static String statement(String text) {
    return tag("db.statement", "string", written(text));
  }

  /** Escapes a value as OzHera's exporter does. */
  private static String written(String text) {
    String escaped =
        text.replace("\n", "##n")
            .replace("\r", "##r")
            .replace("\t", "##t")
            .replace("\\\"", "##r'")
            .replace("\"", "##'")
            .replace("\\", "\\\\");
    return escaped.length() > LONGEST ? escaped.substring(0, LONGEST) + "......" : escaped;
  }

  /** The texts that OzHera's agent makes of a line, and its metric service reads. */
  private record Message(
      String name,
      long startEpochNanos,
      long endEpochNanos,
      Map<String, String> attributes,
      Map<String, String> resource) {}

  private static Message ozheras(String line) {
    String[] fields = line.substring(line.indexOf(" ||| ") + 5).split(" ### ", -1);
    long start = Long.parseLong(fields[0]);
    return new Message(
        fields[4],
        start,
        start + Long.parseLong(fields[1]),
        texts(JSON.readTree(unescaped(fields[8]))),
        texts(JSON.readTree(fields[10]).path("tags")));
  }

  private static String unescaped(String tags) {
    return tags.replace("\\", "\\\\")
        .replace("##r'", "\\\"")
        .replace("##n", "\\n")
        .replace("##r", "\\r")
        .replace("##t", "\\t")
        .replace("##'", "\\\"");
  }

  private static Map<String, String> texts(JsonNode tags) {
    Map<String, String> texts = new LinkedHashMap<>();
    for (JsonNode tag : tags) {
      String value = tag.path("value").asString();
      texts.put(
          tag.path("key").asString(),
          switch (tag.path("type").asString()) {
            case "int64" -> String.valueOf(Long.parseLong(value));
            case "float64" -> String.valueOf(Double.parseDouble(value));
            case "bool" -> String.valueOf(Boolean.parseBoolean(value));
            default -> value;
          });
    }
    return texts;
  }

  private static Recorded decode(String line) {
    RecordingSink spans = new RecordingSink();
    byte[] bytes = line.stripTrailing().getBytes(UTF_8);
    assertThat(new TraceLineDecoder().decode(bytes, 0, bytes.length, spans)).isNull();
    return spans.spans.getFirst();
  }
}
