package org.traceetl.exporter;

import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.sdk.common.InstrumentationScopeInfo;
import io.opentelemetry.sdk.resources.Resource;
import io.opentelemetry.sdk.trace.data.EventData;
import io.opentelemetry.sdk.trace.data.LinkData;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.opentelemetry.sdk.trace.data.StatusData;
import java.util.List;

/** A copy of a {@link RecordingSpan} for exporters. */
final class SpanSnapshot implements SpanData {
  private final SpanContext context;
  private final SpanContext parent;
  private final Resource resource;
  private final InstrumentationScopeInfo scope;
  private final String name;
  private final SpanKind kind;
  private final long startEpochNanos;
  private final long endEpochNanos;
  private final boolean ended;
  private final StatusData status;
  private final Attributes attributes;
  private final int totalAttributes;
  private final List<EventData> events;
  private final int totalEvents;
  private final List<LinkData> links;
  private final int totalLinks;

  SpanSnapshot(
      SpanContext context,
      SpanContext parent,
      Resource resource,
      InstrumentationScopeInfo scope,
      String name,
      SpanKind kind,
      long startEpochNanos,
      long endEpochNanos,
      boolean ended,
      StatusData status,
      Attributes attributes,
      int totalAttributes,
      List<EventData> events,
      int totalEvents,
      List<LinkData> links,
      int totalLinks) {
    this.context = context;
    this.parent = parent;
    this.resource = resource;
    this.scope = scope;
    this.name = name;
    this.kind = kind;
    this.startEpochNanos = startEpochNanos;
    this.endEpochNanos = endEpochNanos;
    this.ended = ended;
    this.status = status;
    this.attributes = attributes;
    this.totalAttributes = totalAttributes;
    this.events = events;
    this.totalEvents = totalEvents;
    this.links = links;
    this.totalLinks = totalLinks;
  }

  @SuppressWarnings("deprecation") // required by the SDK's interfaces
  static io.opentelemetry.sdk.common.InstrumentationLibraryInfo library(
      InstrumentationScopeInfo scope) {
    return io.opentelemetry.sdk.common.InstrumentationLibraryInfo.create(
        scope.getName(), scope.getVersion(), scope.getSchemaUrl());
  }

  @Override
  public SpanContext getSpanContext() {
    return context;
  }

  @Override
  public SpanContext getParentSpanContext() {
    return parent;
  }

  @Override
  public Resource getResource() {
    return resource;
  }

  @Override
  public InstrumentationScopeInfo getInstrumentationScopeInfo() {
    return scope;
  }

  @Override
  @Deprecated
  public io.opentelemetry.sdk.common.InstrumentationLibraryInfo getInstrumentationLibraryInfo() {
    return library(scope);
  }

  @Override
  public String getName() {
    return name;
  }

  @Override
  public SpanKind getKind() {
    return kind;
  }

  @Override
  public long getStartEpochNanos() {
    return startEpochNanos;
  }

  @Override
  public long getEndEpochNanos() {
    return endEpochNanos;
  }

  @Override
  public boolean hasEnded() {
    return ended;
  }

  @Override
  public StatusData getStatus() {
    return status;
  }

  @Override
  public Attributes getAttributes() {
    return attributes;
  }

  @Override
  public int getTotalAttributeCount() {
    return totalAttributes;
  }

  @Override
  public List<EventData> getEvents() {
    return events;
  }

  @Override
  public int getTotalRecordedEvents() {
    return totalEvents;
  }

  @Override
  public List<LinkData> getLinks() {
    return links;
  }

  @Override
  public int getTotalRecordedLinks() {
    return totalLinks;
  }

  @Override
  public String toString() {
    return context.getTraceId()
        + '/'
        + context.getSpanId()
        + " '"
        + name
        + "' "
        + kind
        + ' '
        + status
        + ' '
        + attributes;
  }
}
