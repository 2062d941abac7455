package org.traceetl.server;

import static java.util.stream.Collectors.joining;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * The rules of {@link PackagesTest} that keep features and core apart, for the sources: bytecode
 * keeps no trace of an inlined constant or of a comment.
 */
class SourceImportsTest {
  private static final Path MODULES = Path.of("..");
  private static final List<String> NAMES = List.of("core", "features", "ozhera", "app");
  private static final Pattern PACKAGE = Pattern.compile("(?m)^package ([\\w.]+);");

  /** In imports, and in code that spells a package out. */
  private static final Pattern USED = Pattern.compile("\\b((?:[a-z]\\w*\\.)+)[A-Z]");

  private static final Pattern FEATURE =
      Pattern.compile("org\\.traceetl\\.server\\.features\\.\\w+");

  private record Use(String from, String to) {}

  @Test
  void featuresNameNoOtherFeature() throws IOException {
    assertThat(
            uses(use ->
                FEATURE.matcher(use.from).lookingAt()
                    && FEATURE.matcher(use.to).lookingAt()
                    && !feature(use.from).equals(feature(use.to))))
        .isEmpty();
  }

  @Test
  void featuresNameOnlyCoreAndTheHttpKit() throws IOException {
    Predicate<String> beyond = in(Parts.BEYOND_FEATURES);
    assertThat(uses(use -> FEATURE.matcher(use.from).lookingAt() && beyond.test(use.to))).isEmpty();
  }

  @Test
  void coreNamesOnlyCore() throws IOException {
    Predicate<String> core = in(Parts.CORE);
    Predicate<String> beyond = in(Parts.BEYOND_CORE);
    assertThat(uses(use -> core.test(use.from) && beyond.test(use.to))).isEmpty();
  }

  /** Not in a comment, a text or a name either. */
  @Test
  void onlyItsPackageNamesOzhera() throws IOException {
    List<Path> naming = new ArrayList<>();
    for (Path file : sources()) {
      if (!file.startsWith(MODULES.resolve("ozhera"))
          && Files.readString(file).toLowerCase(Locale.ROOT).contains("ozhera")) {
        naming.add(file);
      }
    }
    assertThat(naming).isEmpty();
  }

  private static String feature(String name) {
    Matcher matcher = FEATURE.matcher(name);
    return matcher.lookingAt() ? matcher.group() : "";
  }

  /** Whether a package is in one of these, {@code ..} meaning its subpackages as well. */
  private static Predicate<String> in(String... patterns) {
    return Pattern.compile(
            Stream.of(patterns)
                .map(pattern ->
                    Pattern.quote(pattern.replace("..", ""))
                        + (pattern.endsWith("..") ? "(\\..*)?" : ""))
                .collect(joining("|")))
        .asMatchPredicate();
  }

  private static List<Use> uses(Predicate<Use> forbidden) throws IOException {
    List<Use> found = new ArrayList<>();
    for (Path file : sources()) {
      String source = Files.readString(file);
      Matcher own = PACKAGE.matcher(source);
      assertThat(own.find()).as(file.toString()).isTrue();
      Matcher used = USED.matcher(source);
      while (used.find()) {
        String name = used.group(1);
        Use use = new Use(own.group(1), name.substring(0, name.length() - 1));
        if (forbidden.test(use)) {
          found.add(use);
        }
      }
    }
    return found;
  }

  private static List<Path> sources() throws IOException {
    List<Path> sources = new ArrayList<>();
    for (String module : NAMES) {
      try (Stream<Path> files =
          Files.walk(MODULES.resolve(module).resolve(Path.of("src", "main", "java")))) {
        files.filter(path -> path.toString().endsWith(".java")).forEach(sources::add);
      }
    }
    return sources;
  }
}
