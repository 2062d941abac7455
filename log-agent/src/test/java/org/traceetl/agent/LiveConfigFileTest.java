package org.traceetl.agent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.traceetl.agent.config.ConfigReader;

final class LiveConfigFileTest {
  private final List<List<String>> told = new ArrayList<>();
  @TempDir private Path directory;

  @Test
  void filesToFollowComeIntoForce() throws Exception {
    LiveConfigFile file = start("files: {paths: [/a]}");
    assertThat(file.reload()).isFalse();

    write("files: {paths: [/a, /b]}");
    assertThat(file.reload()).isTrue();
    assertThat(file.reload()).isFalse();
    write("files: {paths: []}");
    assertThat(file.reload()).isTrue();

    assertThat(told).containsExactly(List.of("/a", "/b"), List.of());
  }

  @Test
  void otherKeysRequireARestart() throws Exception {
    LiveConfigFile file = start("files: {paths: [/a]}");

    write("files: {paths: [/a]}\notlp: {grpc-port: 14317}");

    assertThat(file.reload()).isFalse();
    assertThat(told).isEmpty();
  }

  @Test
  void aWrongFileIsRefusedUntilItIsRight() throws Exception {
    LiveConfigFile file = start("files: {paths: [/a]}");
    write("files: {paths: [/b], pahts: []}");

    assertThatThrownBy(file::reload)
        .isInstanceOf(IOException.class)
        .hasMessageContaining("files.pahts: no such key");
    assertThat(told).isEmpty();

    write("files: {paths: [/b]}");
    assertThat(file.reload()).isTrue();
    assertThat(told).containsExactly(List.of("/b"));
  }

  @Test
  void theEnvironmentStaysAbove() throws Exception {
    write("files: {paths: [/a]}");
    Map<String, String> environment = Map.of("TRACE_ETL_AGENT_FILES_PATHS", "/e");
    LiveConfigFile file = start("files: {paths: [/a]}", environment);

    write("files: {paths: [/b]}");

    assertThat(file.reload()).isFalse();
  }

  private LiveConfigFile start(String yaml) throws Exception {
    return start(yaml, Map.of());
  }

  private LiveConfigFile start(String yaml, Map<String, String> environment) throws Exception {
    write(yaml);
    return new LiveConfigFile(
        directory.resolve("agent.yaml"),
        yaml,
        environment,
        ConfigReader.read(yaml, environment),
        told::add);
  }

  private void write(String yaml) throws IOException {
    Files.writeString(directory.resolve("agent.yaml"), yaml);
  }
}
