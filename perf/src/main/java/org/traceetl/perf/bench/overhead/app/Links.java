package org.traceetl.perf.bench.overhead.app;

/** The two steps of a shortener's request. */
interface Links {
  /** Returns a code for a URL that is not stored yet. */
  String encode(String url);

  void store(String code, String url);

  /** Returns the URL of a code, or null if the code is unknown. */
  String find(String code);

  void count(String code);
}
