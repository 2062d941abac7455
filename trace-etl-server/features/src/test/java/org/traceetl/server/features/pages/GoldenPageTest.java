package org.traceetl.server.features.pages;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.traceetl.server.config.MetricsConfig;
import org.traceetl.server.config.StandardProfile;
import org.traceetl.server.expose.Encoding;
import org.traceetl.server.expose.Naming;
import org.traceetl.server.window.QueueId;

/**
 * The bytes of each profile and format. After a wanted change, {@code -Dgolden.update=true} writes
 * them anew; read the difference.
 */
class GoldenPageTest {
  private static final Path GOLDEN = Path.of("src/test/resources/golden");

  @ParameterizedTest
  @CsvSource({
    "OTEL,TEXT",
    "OTEL,OPENMETRICS",
    "OTEL,OPENMETRICS_2",
    "TEMPO,TEXT",
    "TEMPO,OPENMETRICS",
    "TEMPO,OPENMETRICS_2"
  })
  void pageIsAsKept(StandardProfile profile, Encoding encoding) throws IOException {
    Naming naming =
        PageFixture.naming(new MetricsConfig(profile, null, null, null, null, null, null));
    try (SpanPages pages = PageFixture.started(naming)) {
      pages.window(
          Windows.of(Windows.QUEUE, PageFixture.STRIDE)
              .create(0, "checkout", "GET /cart", "2", "0", "/cart", null)
              .row(0, 12_345_678, 3, 1, 0, 0)
              .exemplar(1, "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331", 10_250_000)
              .create(1, "checkout", "SELECT", "3", "2", null, "shop")
              .row(1, 90_000_000_000L, 0, 0, 0, 2)
              .create(Windows.overflow(2, "checkout"))
              .row(2, 5_000_000, 0, 7, 0, 0)
              .seal());
      pages.window(
          Windows.of(new QueueId("broker-b", 0), PageFixture.STRIDE)
              .create(0, "a \"quoted\\back\nslash\" é \uD83D\uDE00 \uD800 \0", "", "9", "1", "", "")
              .row(0, 1, 1)
              .seal());
      pages.window(
          Windows.of(Windows.QUEUE, PageFixture.STRIDE).row(0, 7_654_322, 0, 1, 0, 0).seal());

      String page = PageFixture.text(pages, encoding);

      Path golden =
          GOLDEN.resolve((profile + "-" + encoding + ".txt").toLowerCase(java.util.Locale.ROOT));
      if (Boolean.getBoolean("golden.update")) {
        Files.writeString(golden, page);
      }
      assertThat(page).isEqualTo(Files.readString(golden, StandardCharsets.UTF_8));
    }
  }
}
