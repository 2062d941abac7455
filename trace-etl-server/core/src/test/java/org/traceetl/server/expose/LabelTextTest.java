package org.traceetl.server.expose;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.junit.jupiter.api.Test;
import org.traceetl.server.config.MetricsConfig;
import org.traceetl.server.config.SeriesConfig;
import org.traceetl.server.config.SeriesConfig.Dimension;
import org.traceetl.server.config.StandardProfile;
import org.traceetl.server.window.SeriesDefinition;

class LabelTextTest {
  private static String text(String... namesAndValues) {
    var out = new StringBuilder();
    for (int i = 0; i < namesAndValues.length; i += 2) {
      LabelText.append(out, LabelText.name(namesAndValues[i]), namesAndValues[i + 1]);
    }
    return out.toString();
  }

  private static String escaped(String labels) {
    return new String(LabelText.escaped(labels.getBytes(UTF_8)), UTF_8);
  }

  @Test
  void onlyNamesThatNeedQuotesHaveThem() {
    assertThat(text("a_1", "x", "http.route", "/", "3d", "", "q\"\\\n=é", "=\"\\"))
        .isEqualTo("a_1=\"x\",\"http.route\"=\"/\",\"3d\"=\"\",\"q\\\"\\\\\\n=é\"=\"=\\\"\\\\\"");
  }

  @Test
  void escapedNamesHaveAnUnderscoreForEachOtherCharacter() {
    assertThat(escaped(text("a.b", "x.\"y\"", "c", "=", "d\"\\\n=,é\uD83D\uDE00:e", "z")))
        .isEqualTo("a_b=\"x.\\\"y\\\"\",c=\"=\",d________e=\"z\"");
    assertThat(escaped("")).isEmpty();
  }

  /** A scraper that does not ask for UTF-8 names gets the labels that it gets without them. */
  @Property
  void escapedLabelsAreThoseOfUnderscores(
      @ForAll("keys") String key,
      @ForAll String value,
      @ForAll boolean hasLabel,
      @ForAll boolean overflow) {
    SeriesConfig series =
        SeriesConfig.defaults()
            .withDimensions(
                List.of(
                    new Dimension("k" + key, null, null),
                    new Dimension("l" + key, hasLabel ? "named" : null, null)));
    var definition =
        new SeriesDefinition(0, 0, overflow, List.of("shop", "GET", "2", "0", value, value));
    byte[] utf8 = labels(MetricsConfig.Names.UTF_8, series, definition);

    assertThat(new String(LabelText.escaped(utf8), UTF_8))
        .isEqualTo(new String(labels(MetricsConfig.Names.UNDERSCORES, series, definition), UTF_8));
  }

  private static byte[] labels(
      MetricsConfig.Names names, SeriesConfig series, SeriesDefinition definition) {
    var metrics = new MetricsConfig(StandardProfile.OTEL, null, null, null, names, null, null);
    return new SpanNaming(metrics, series, StandardProfile.OTEL.histogram())
        .labels(definition, "broker/0");
  }

  @Provide
  Arbitrary<String> keys() {
    return Arbitraries.strings()
        .ofMaxLength(12)
        .withChars('a', 'Z', '3', '.', '_', '-', '/', ':', '"', '\\', '\n', '=', ',', '{', 'é', '日')
        .map(text -> text.replace("日", "\uD83D\uDE00"));
  }
}
