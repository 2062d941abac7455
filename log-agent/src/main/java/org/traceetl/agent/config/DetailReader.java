package org.traceetl.agent.config;

import org.traceetl.agent.config.DetailConfig.Detail;
import org.traceetl.agent.config.DetailConfig.Rule;

/** Reads the section {@code detail} of the configuration. */
final class DetailReader {
  /** What {@link #ratio} allows. */
  static final String RATIO = "0 or a number from 0.000001 to 1";

  private DetailReader() {}

  static DetailConfig read(Settings detail, DetailConfig standard) {
    return new DetailConfig(
        detail.choice("default", standard.standard()),
        ApplicationRules.read(detail, "detail", Detail.FULL, Rule::new),
        detail.value("sample-ratio", standard.sampleRatio(), RATIO, DetailReader::ratio));
  }

  /** Converts a ratio of a sample; returns null if it is invalid. */
  static Double ratio(YamlNode node) {
    if (!(node.value() instanceof Number number)) {
      return null;
    }
    double ratio = number.doubleValue();
    boolean valid = ratio == 0 || ratio >= DetailConfig.LEAST_SAMPLE_RATIO && ratio <= 1;
    return valid ? ratio : null;
  }
}
