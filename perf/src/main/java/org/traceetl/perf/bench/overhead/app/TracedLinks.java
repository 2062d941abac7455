package org.traceetl.perf.bench.overhead.app;

import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.context.Scope;

/** Creates a span for each step. */
final class TracedLinks implements Links {
  private static final AttributeKey<String> SYSTEM = AttributeKey.stringKey("db.system.name");
  private static final AttributeKey<String> OPERATION = AttributeKey.stringKey("db.operation.name");
  private static final AttributeKey<String> QUERY = AttributeKey.stringKey("db.query.text");
  private static final AttributeKey<String> CODE = AttributeKey.stringKey("link.code");

  private final Links links;
  private final Tracer tracer;

  TracedLinks(Links links, Tracer tracer) {
    this.links = links;
    this.tracer = tracer;
  }

  @Override
  public String encode(String url) {
    Span span = tracer.spanBuilder("encode").startSpan();
    try (Scope unused = span.makeCurrent()) {
      String code = links.encode(url);
      span.setAttribute(CODE, code);
      return code;
    } finally {
      span.end();
    }
  }

  @Override
  public void store(String code, String url) {
    Span span = database("INSERT", "INSERT INTO links (code, url) VALUES (?, ?)");
    try (Scope unused = span.makeCurrent()) {
      links.store(code, url);
    } finally {
      span.end();
    }
  }

  @Override
  public String find(String code) {
    Span span = database("SELECT", "SELECT url FROM links WHERE code = ?");
    try (Scope unused = span.makeCurrent()) {
      return links.find(code);
    } finally {
      span.end();
    }
  }

  @Override
  public void count(String code) {
    Span span = tracer.spanBuilder("count").setAttribute(CODE, code).startSpan();
    try (Scope unused = span.makeCurrent()) {
      links.count(code);
    } finally {
      span.end();
    }
  }

  private Span database(String operation, String query) {
    return tracer
        .spanBuilder(operation + " links")
        .setSpanKind(SpanKind.CLIENT)
        .setAttribute(SYSTEM, "postgresql")
        .setAttribute(OPERATION, operation)
        .setAttribute(QUERY, query)
        .startSpan();
  }
}
