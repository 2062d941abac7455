package org.traceetl.server.features.index;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.traceetl.common.Secret;

final class IndexConfigTest {
  private static final Secret SECRET = new Secret("hunter2");

  private static IndexConfig.Elasticsearch elasticsearch(
      String url, String dataStream, String username, Secret password, Secret apiKey) {
    return new IndexConfig.Elasticsearch(
        List.of(URI.create(url)),
        dataStream,
        Duration.ofDays(7),
        Duration.ofSeconds(30),
        username,
        password,
        apiKey,
        null);
  }

  @Test
  void secretsAreNeverPrinted() {
    assertThat(
            IndexConfig.of(elasticsearch("https://es:9200", "traces", "me", SECRET, null))
                .toString())
        .contains("username=me", "password=***")
        .doesNotContain("hunter2");
  }

  @Test
  void aSecretIsReadFromItsFile(@TempDir Path directory) throws IOException {
    Path file = Files.writeString(directory.resolve("secret"), "  hunter2\n");
    assertThat(Secret.fromFile(file)).isEqualTo(SECRET);
    Files.writeString(file, "\n");
    assertThatThrownBy(() -> Secret.fromFile(file))
        .isInstanceOf(IOException.class)
        .hasMessage("the file is empty");
  }

  @ParameterizedTest
  @CsvSource({
    "ftp://es, traces, index.elasticsearch.urls = ftp://es",
    "es:9200, traces, index.elasticsearch.urls = es:9200",
    "http://es:9200, Traces, index.elasticsearch.data-stream = Traces",
    "http://es:9200, 'a,b', 'index.elasticsearch.data-stream = a,b'",
    "http://es:9200, .traces, index.elasticsearch.data-stream = .traces",
    "http://es:9200/path, traces, index.elasticsearch.urls = http://es:9200/path",
  })
  void whatIsWrongIsNamed(String url, String dataStream, String message) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> elasticsearch(url, dataStream, null, null, null))
        .withMessageStartingWith(message);
  }

  @Test
  void aPasswordInAUrlIsRefusedAndNotRepeated() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> elasticsearch("http://me:hunter2@es:9200", "traces", null, null, null))
        .withMessageContaining("password-file")
        .satisfies(e -> assertThat(e.getMessage()).doesNotContain("hunter2"));
  }

  @Test
  void oneWayToAuthenticateIsEnough() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> elasticsearch("http://es:9200", "traces", "me", null, null));
    assertThatIllegalArgumentException()
        .isThrownBy(() -> elasticsearch("http://es:9200", "traces", null, SECRET, null));
    assertThatIllegalArgumentException()
        .isThrownBy(() -> elasticsearch("http://es:9200", "traces", "me", SECRET, SECRET));
  }
}
