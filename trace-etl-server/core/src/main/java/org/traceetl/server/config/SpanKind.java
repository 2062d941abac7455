package org.traceetl.server.config;

/** Kinds of spans. The ordinal is OTLP's number. */
public enum SpanKind {
  UNSPECIFIED,
  INTERNAL,
  SERVER,
  CLIENT,
  PRODUCER,
  CONSUMER
}
