package org.traceetl.server.features.learn;

import org.traceetl.proto.NameRule;

/**
 * A place in an application's span names with many distinct tokens.
 *
 * @param prefix bytes before the place
 * @param behind number of tokens after it
 * @param values number of distinct tokens when it was found
 */
record Variety(String application, String prefix, int behind, int values) {
  /** Returns the rule that joins the names; requires a prefix that {@link NameRule#takes}. */
  NameRule rule(long sinceMillis) {
    return new NameRule(prefix, behind, values, sinceMillis);
  }
}
