package org.traceetl.server.features.push;

import java.util.Locale;

/** Why a receiver refused samples, as far as its answer says it. */
enum RefusalReason {
  /** The series has a newer sample: usual for repeats. */
  OUT_OF_ORDER("out of order"),
  /** The series has another sample at that time. */
  DUPLICATE("duplicate"),
  /** Before the oldest, or after the newest time that the receiver accepts. */
  OUT_OF_BOUNDS("out of bounds", "too old", "too far in the future"),
  /** One series alone is too large. */
  TOO_LARGE,
  OTHER;

  private static final int STATUS_TOO_LARGE = 413;

  private final String[] words;

  RefusalReason(String... words) {
    this.words = words;
  }

  /** Returns the name in labels. */
  String label() {
    return name().toLowerCase(Locale.ROOT);
  }

  static RefusalReason of(WriteTransport.Answer answer) {
    if (answer.status() == STATUS_TOO_LARGE) {
      return TOO_LARGE;
    }
    String text = answer.text().toLowerCase(Locale.ROOT);
    for (RefusalReason reason : values()) {
      for (String word : reason.words) {
        if (text.contains(word)) {
          return reason;
        }
      }
    }
    return OTHER;
  }
}
