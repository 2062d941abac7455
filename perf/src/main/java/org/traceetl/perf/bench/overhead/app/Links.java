package org.traceetl.perf.bench.overhead.app;

/** What a shortener does for a request, in two steps. */
interface Links {
  /** A code for a URL that is not stored yet. */
  String encode(String url);

  void store(String code, String url);

  /** The URL of a code; null if there is none. */
  String find(String code);

  /** A code was followed. */
  void count(String code);
}
