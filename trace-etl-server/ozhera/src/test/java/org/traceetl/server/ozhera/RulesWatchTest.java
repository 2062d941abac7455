package org.traceetl.server.ozhera;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

class RulesWatchTest {
  @TempDir private Path directory;
  private Path file;

  @BeforeEach
  void write() throws IOException {
    file = directory.resolve("rules.yaml");
    http(100);
  }

  private void http(int millis) throws IOException {
    Files.writeString(file, yaml(millis));
  }

  private static String yaml(int millis) {
    return "slower-than-millis: {http: " + millis + "}\n";
  }

  private static long httpMillis(RulesWatch watch) {
    return watch.get().of("shop").httpMicros() / 1_000;
  }

  @Test
  void aChangeCountsOnceItIsSeenTwice() throws IOException {
    try (var watch = new RulesWatch(file)) {
      assertThat(httpMillis(watch)).isEqualTo(100);
      http(200);
      watch.look();
      assertThat(httpMillis(watch)).isEqualTo(100);
      http(300);
      watch.look();
      assertThat(httpMillis(watch)).isEqualTo(100);
      watch.look();
      assertThat(httpMillis(watch)).isEqualTo(300);
      assertThat(watch.reloads()).isEqualTo(Map.of("applied", 1L, "refused", 0L));
    }
  }

  @Test
  void aWrongChangeIsRefusedWholeAndTheRulesBeforeStay() throws IOException {
    try (var watch = new RulesWatch(file)) {
      Files.writeString(file, yaml(200) + "other: 1\n");
      for (int i = 0; i < 4; i++) {
        watch.look();
      }
      assertThat(httpMillis(watch)).isEqualTo(100);
      assertThat(watch.isRefused()).isTrue();
      assertThat(watch.reloads()).isEqualTo(Map.of("applied", 0L, "refused", 1L));

      Files.delete(file);
      watch.look();
      assertThat(watch.isRefused()).isTrue();
      http(300);
      watch.look();
      watch.look();
      assertThat(httpMillis(watch)).isEqualTo(300);
      assertThat(watch.isRefused()).isFalse();
    }
  }

  @Test
  void aMountedConfigMapIsFollowed() throws IOException {
    // As kubelet does: the file is a link to ..data/rules.yaml, and ..data is swapped.
    Path one = Files.createDirectory(directory.resolve("..1"));
    Path two = Files.createDirectory(directory.resolve("..2"));
    Files.writeString(one.resolve("rules.yaml"), yaml(6));
    Files.writeString(two.resolve("rules.yaml"), yaml(7));
    Path data = Files.createSymbolicLink(directory.resolve("..data"), Path.of("..1"));
    Files.delete(file);
    Files.createSymbolicLink(file, Path.of("..data", "rules.yaml"));
    try (var watch = new RulesWatch(file, 10)) {
      assertThat(httpMillis(watch)).isEqualTo(6);
      watch.start(null);

      Path next = Files.createSymbolicLink(directory.resolve("..data_tmp"), Path.of("..2"));
      Files.move(next, data, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);

      await().until(() -> httpMillis(watch) == 7);
    }
  }

  @Test
  void aWrongFileIsRefusedAtTheStart() throws IOException {
    Files.writeString(file, "other: 1\n");

    assertThatThrownBy(() -> new RulesWatch(file))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("rules.yaml:1: other: is not a key of this section");
  }

  @Test
  void withoutAFileTheDefaultsHold() {
    try (var watch = new RulesWatch(null)) {
      watch.start(null);
      assertThat(httpMillis(watch)).isEqualTo(1_000);
      assertThat(watch.isRefused()).isFalse();
    }
  }

  @Test
  @Timeout(60)
  void aLookThatHangsDoesNotHoldUpTheEnd() throws Exception {
    var watch = new RulesWatch(file, 1);
    Files.delete(file);
    assertThat(new ProcessBuilder("mkfifo", file.toString()).start().waitFor()).isZero();
    watch.start(null);
    // Opened once the other end is: the look waits for content that does not come.
    try (OutputStream content = Files.newOutputStream(file)) {
      assertThat(content).isNotNull();
      watch.close();
    }
  }

  @Test
  void fileOfAClosedFileSystemCountsAsRefused() throws IOException {
    Path archive = directory.resolve("rules.zip");
    RulesWatch watch;
    try (FileSystem files = FileSystems.newFileSystem(archive, Map.of("create", "true"))) {
      Path within = Files.writeString(files.getPath("rules.yaml"), yaml(100));
      watch = new RulesWatch(within, 1);
    }
    try (watch) {
      watch.start(null);
      await().until(watch::isRefused);
      assertThat(httpMillis(watch)).isEqualTo(100);
    }
  }
}
