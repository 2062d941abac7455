package org.traceetl.server.features.pages;

import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.traceetl.server.http.Allowed;
import org.traceetl.server.http.ParameterRefused;

/**
 * A part of a page. The shards 0 to {@code of - 1} together have each series once.
 *
 * @param number the shard, from 0
 * @param of number of shards
 */
record Shard(int number, int of) {
  static final String PARAMETER = "shard";

  /** The whole page. */
  static final Shard WHOLE = new Shard(0, 1);

  private static final Pattern TEXT = Pattern.compile("([0-9]{1,2})/([0-9]{1,2})");
  private static final int MAX_SHOWN = 40;

  /**
   * Returns the shard of a request.
   *
   * @param values values of its parameter {@link #PARAMETER}; null for the whole page
   * @throws ParameterRefused unless there is one value such as {@code 0/4}
   */
  static Shard ofRequest(String... values) {
    if (values == null) {
      return WHOLE;
    }
    if (values.length > 1) {
      throw new ParameterRefused(PARAMETER + ": must be given once");
    }
    Matcher parts = TEXT.matcher(values[0]);
    if (parts.matches()) {
      int number = Integer.parseInt(parts.group(1));
      int of = Integer.parseInt(parts.group(2));
      if (number < of && of <= Allowed.SHARDS) {
        return new Shard(number, of);
      }
    }
    throw new ParameterRefused(
        PARAMETER
            + " = "
            + (values[0].length() > MAX_SHOWN ? values[0].substring(0, MAX_SHOWN) + "…" : values[0])
            + ": must be i/n, with n from 1 to "
            + Allowed.SHARDS
            + " and i from 0 to n - 1");
  }

  /** Returns whether the shard also has the server's own metrics, which have no shards. */
  boolean isFirst() {
    return number == 0;
  }

  /** Returns whether the shard has a part of the page, given by any number. */
  boolean has(int part) {
    return Math.floorMod(part, of) == number;
  }
}
