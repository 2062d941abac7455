package org.traceetl.server.canary;

import java.util.Locale;

/** A part of the way of spans, in order. */
enum Stage {
  AGENT("the agent does not accept spans", "check the address, /health and the log of the agent"),
  BROKER(
      "the agent accepted spans, and the broker does not answer",
      "check brokers and name servers; the spans arrive once they are back"),
  SERVER(
      "the agent accepted spans, and a server does not answer or does not read its queues",
      "check /ready and the logs of the servers"),
  PIPELINE(
      "the agent accepted spans that no page shows, although brokers and servers answer",
      "check the metrics of the agent's spool and of the servers' lag and rejected spans"),
  INDEX(
      "the pages show spans whose documents the trace index does not return",
      "check the index and trace_etl_index_healthy"),
  PROMETHEUS(
      "the pages show spans that Prometheus does not return",
      "check the targets, rules and storage of Prometheus");

  /** What is wrong, for a log line. */
  final String what;

  /** What to do about it. */
  final String remedy;

  Stage(String what, String remedy) {
    this.what = what;
    this.remedy = remedy;
  }

  /** Returns the value of label {@code stage}. */
  String label() {
    return name().toLowerCase(Locale.ROOT);
  }
}
