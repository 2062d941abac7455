package org.traceetl.agent.edge;

/**
 * Finds the host in an absolute URL, without user, port and the brackets of an IPv6 address. The
 * bytes may be anything.
 */
final class UrlHost {
  private UrlHost() {}

  /**
   * Returns the start of the host.
   *
   * @param to end of the slice, above {@code from}
   * @return {@code to} if the slice is no absolute URL
   */
  static int start(byte[] url, int from, int to) {
    int at = from;
    while (at < to && url[at] != ':' && url[at] != '/') {
      at++;
    }
    if (to - at < 3 || url[at] != ':' || url[at + 1] != '/' || url[at + 2] != '/') {
      return to;
    }
    at += 3;
    int start = at;
    while (at < to && !endsAuthority(url[at])) {
      if (url[at] == '@') {
        start = at + 1;
      }
      at++;
    }
    return start < to && url[start] == '[' ? start + 1 : start;
  }

  /**
   * Returns the end of the host.
   *
   * @param start the result of {@link #start} for the same slice
   * @return {@code start} if the host is empty
   */
  static int end(byte[] url, int start, int to) {
    byte last = (byte) (url[start - 1] == '[' ? ']' : ':');
    int at = start;
    while (at < to && url[at] != last && !endsAuthority(url[at])) {
      at++;
    }
    return at;
  }

  private static boolean endsAuthority(byte one) {
    return one == '/' || one == '?' || one == '#';
  }
}
