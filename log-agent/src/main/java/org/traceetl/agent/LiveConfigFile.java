package org.traceetl.agent;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.traceetl.agent.config.ConfigReader;
import org.traceetl.agent.reload.Reloader;
import org.traceetl.common.ConfigException;

/** Reloads the configuration file while the agent runs; only the files to follow may change. */
final class LiveConfigFile implements Reloader.Source {
  private static final Logger log = LoggerFactory.getLogger(LiveConfigFile.class);
  private static final String LIVE = "files.paths";

  private final Path file;
  private final Map<String, String> environment;
  private final Consumer<List<String>> paths;
  private final Map<String, Object> atStart;
  private String yaml;
  private List<String> pathsInForce;

  /**
   * @param yaml the file's content at the start
   * @param inForce the configuration read from it
   * @param paths receives the files to follow when they change
   */
  LiveConfigFile(
      Path file,
      String yaml,
      Map<String, String> environment,
      ConfigReader inForce,
      Consumer<List<String>> paths) {
    this.file = file;
    this.yaml = yaml;
    this.environment = environment;
    this.paths = paths;
    this.atStart = inForce.values();
    this.pathsInForce = inForce.config().files().paths();
  }

  @Override
  public boolean reload() throws IOException {
    String now = Files.readString(file);
    if (now.equals(yaml)) {
      return false;
    }
    ConfigReader read;
    try {
      read = ConfigReader.read(file.toString(), now, environment);
    } catch (ConfigException e) {
      throw new IOException(String.join(" | ", e.problems()), e);
    }
    yaml = now;
    List<String> waiting = new ArrayList<>();
    read.values()
        .forEach((key, value) -> {
          if (!key.equals(LIVE) && !Objects.equals(value, atStart.get(key))) {
            waiting.add(key);
          }
        });
    if (!waiting.isEmpty()) {
      log.warn("{}: these changed keys require a restart: {}", file, String.join(", ", waiting));
    }
    List<String> found = read.config().files().paths();
    if (found.equals(pathsInForce)) {
      return false;
    }
    pathsInForce = found;
    paths.accept(found);
    return true;
  }
}
