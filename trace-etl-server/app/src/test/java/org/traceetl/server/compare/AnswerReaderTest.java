package org.traceetl.server.compare;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class AnswerReaderTest {
  private static final long MAX_BYTES = 1 << 20;

  private final AnswerReader reader = new AnswerReader(MAX_BYTES);
  private final List<String> series = new ArrayList<>();

  @Test
  void seriesAreReadInAnyOrderOfKeys() throws IOException {
    read(
        """
        {"data": {"stats": {"a": [1]}, "resultType": "matrix", "result": [
          {"values": [[1.5, "2"], [2, "NaN"], [3, "+Inf"], [4, "1e3"]], "metric": {"b": "2", "a": "1", "__name__": "n"}},
          {"metric": {}, "value": [5, "7"]},
          {"metric": {"empty": "1"}, "values": []}]},
         "infos": ["i"], "warnings": ["one", "two", "one"], "status": "success"}
        """);

    assertThat(series).containsExactly("{a=1, b=2} 1500=2.0 4000=1000.0", "{} 5000=7.0");
    assertThat(reader.warnings()).containsExactly("one", "two");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "null",
        "{",
        "{\"status\":\"success\"",
        "{\"status\":\"success\",\"data\":{\"result\":[[]]}}",
        "{\"status\":\"success\",\"data\":{\"result\":[{\"metric\":{\"a\":1}}]}}",
        "{\"status\":\"success\",\"data\":{\"result\":[{\"values\":[1]}]}}",
        "{\"status\":\"success\",\"data\":{\"result\":[{\"values\":[[\"1\",\"1\"]]}]}}",
        "{\"status\":\"success\",\"data\":{\"result\":[{\"values\":[[1,2]]}]}}",
        "{\"status\":\"success\",\"data\":{\"result\":[{\"values\":[[1,\"2\",3]]}]}}",
        "{\"status\":\"success\",\"data\":{\"result\":[{\"values\":[[]",
        "{\"status\":\"success\",\"warnings\":[",
      })
  void otherAnswersAreRefused(String answer) {
    assertThatThrownBy(() -> read(answer))
        .isInstanceOf(IOException.class)
        .hasMessage("the answer is not one of the Prometheus query API");
  }

  @Test
  void largeAnswersAreRefused() {
    String label = "{\"data\":{\"result\":[{\"metric\":{\"a\":\"" + "x".repeat(70_000) + "\"}}]}}";
    String names =
        "{\"data\":{\"result\":[{\"metric\":{"
            + "\"abcdefgh\":\"abcdefgh\",".repeat(10_000)
            + "\"a\":\"\"}}]}}";
    String deep = "{\"a\":" + "[".repeat(100);
    String all = "{\"a\":[" + "1,".repeat((int) MAX_BYTES) + "1]}";
    for (String answer : List.of(label, names, deep, all)) {
      assertThatThrownBy(() -> read(answer))
          .isInstanceOf(IOException.class)
          .hasMessageStartingWith("the answer is too large: ");
    }
  }

  private void read(String answer) throws IOException {
    reader.read(
        new ByteArrayInputStream(answer.getBytes(UTF_8)),
        (labels, samples) -> {
          StringBuilder text = new StringBuilder(labels.toString());
          for (int i = 0; i < samples.size(); i++) {
            text.append(' ').append(samples.millis(i)).append('=').append(samples.value(i));
          }
          series.add(text.toString());
        });
  }
}
