package org.traceetl.server.compare;

import java.util.Locale;

/** Why the two series of a pair have different increases. */
enum Finding {
  EQUAL("both sides counted the same"),
  LATE("spans in flight explain the difference, or later panes made up for it"),
  LIMIT("a side counted spans in its overflow series because of a limit"),
  NAME("a label has other values on the other side; together the series are equal"),
  RESET("a side restarted, and spans around the restart are missing"),
  MISSING("the series has no partner on the other side"),
  DROP("a side counted fewer spans, without another sign");

  private final String meaning;

  Finding(String meaning) {
    this.meaning = meaning;
  }

  String meaning() {
    return meaning;
  }

  boolean isDifference() {
    return this != EQUAL && this != LATE;
  }

  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT);
  }
}
