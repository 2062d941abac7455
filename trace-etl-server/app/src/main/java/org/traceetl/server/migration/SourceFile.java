package org.traceetl.server.migration;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.io.InputStream;
import java.io.StringReader;
import java.nio.file.Files;
import java.nio.file.Path;
import org.yaml.snakeyaml.LoaderOptions;
import org.yaml.snakeyaml.Yaml;
import org.yaml.snakeyaml.error.MarkedYAMLException;
import org.yaml.snakeyaml.error.YAMLException;
import org.yaml.snakeyaml.nodes.MappingNode;
import org.yaml.snakeyaml.nodes.Node;

/** Reads the file to translate. No object is made of its content, and no variable is replaced. */
final class SourceFile {
  private static final int MAX_BYTES = 1 << 20;

  private SourceFile() {}

  /**
   * Returns the root of the file.
   *
   * @throws IllegalArgumentException if it is unreadable, longer than 1 MiB, not YAML, or no
   *     section
   */
  static Section read(Path file, Report report) {
    Node root = compose(file, content(file));
    if (!(root instanceof MappingNode)) {
      throw new IllegalArgumentException(
          file + ": " + (root == null ? "is empty" : "is not a configuration: it has no keys"));
    }
    return new Value(report, "", root).section();
  }

  private static String content(Path file) {
    try (InputStream in = Files.newInputStream(file)) {
      byte[] content = in.readNBytes(MAX_BYTES + 1);
      if (content.length > MAX_BYTES) {
        throw new IllegalArgumentException(
            file + ": is longer than 1 MiB; reduce it to the part that makes metrics");
      }
      return new String(content, UTF_8);
    } catch (IOException e) {
      throw new IllegalArgumentException(file + ": cannot be read: " + e, e);
    }
  }

  private static Node compose(Path file, String content) {
    try {
      return new Yaml(new LoaderOptions()).compose(new StringReader(content));
    } catch (MarkedYAMLException e) {
      int line = e.getProblemMark() == null ? 1 : e.getProblemMark().getLine() + 1;
      throw new IllegalArgumentException(
          Report.printable(file + ":" + line + ": is not YAML: " + e.getProblem()), e);
    } catch (YAMLException e) {
      throw new IllegalArgumentException(
          Report.printable(file + ": is not YAML: " + e.getMessage()), e);
    }
  }
}
