package org.traceetl.agent.config;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.List;
import org.traceetl.agent.config.DetailConfig.Detail;
import org.traceetl.agent.config.DetailConfig.Rule;

/** Reads the section {@code detail} of the configuration. */
final class DetailReader {
  private static final int MAX_RULES = 1_000;

  /** Most bytes of a pattern of application names. */
  private static final int MAX_PATTERN_BYTES = 1_024;

  private DetailReader() {}

  static DetailConfig read(Settings detail, DetailConfig standard) {
    DetailConfig read =
        new DetailConfig(
            detail.choice("default", standard.standard()),
            detail.list("applications", DetailReader::rule),
            detail.value(
                "sample-ratio",
                standard.sampleRatio(),
                "0 or a number from 0.000001 to 1",
                DetailReader::ratio));
    int rules = read.applications().size();
    if (rules > MAX_RULES) {
      detail.problem(
          "applications", rules + " rules", "must be at most " + MAX_RULES + ": use patterns");
    }
    return read;
  }

  private static Double ratio(YamlNode node) {
    if (!(node.value() instanceof Number number)) {
      return null;
    }
    double ratio = number.doubleValue();
    boolean valid = ratio == 0 || ratio >= DetailConfig.LEAST_SAMPLE_RATIO && ratio <= 1;
    return valid ? ratio : null;
  }

  private static Rule rule(Settings rule) {
    for (String key : List.of("application", "detail")) {
      if (!rule.has(key)) {
        rule.missing(key);
      }
    }
    return new Rule(
        rule.value(
            "application",
            "*",
            "a name or a pattern of 1 to " + MAX_PATTERN_BYTES + " bytes",
            node -> isPattern(node) ? node.text() : null),
        rule.choice("detail", Detail.FULL));
  }

  private static boolean isPattern(YamlNode node) {
    return node.isScalar()
        && !node.text().isBlank()
        && node.text().getBytes(UTF_8).length <= MAX_PATTERN_BYTES;
  }
}
