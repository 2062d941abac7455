package org.traceetl.server.features.learn;

import org.traceetl.proto.NameRule;

/**
 * A place in an application's span names at which many different tokens stood.
 *
 * @param prefix all that stands before it
 * @param behind tokens behind it
 * @param values different ones when it was found
 */
record Variety(String application, String prefix, int behind, int values) {
  /** By which its names are joined; for prefixes that {@link NameRule#takes}. */
  NameRule rule(long sinceMillis) {
    return new NameRule(prefix, behind, values, sinceMillis);
  }
}
