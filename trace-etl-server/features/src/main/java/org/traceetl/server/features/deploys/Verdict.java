package org.traceetl.server.features.deploys;

import java.util.Locale;

/** What a comparison says of the new version. */
enum Verdict {
  BETTER(-1),
  /** No difference above the margin was found so far. */
  NO_DIFFERENCE_YET(0),
  WORSE(1);

  /** The value of the metric. */
  final int value;

  private final String label = name().toLowerCase(Locale.ROOT);

  Verdict(int value) {
    this.value = value;
  }

  String label() {
    return label;
  }
}
