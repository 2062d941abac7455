package org.traceetl.exporter;

import io.opentelemetry.sdk.autoconfigure.spi.ConfigProperties;
import io.opentelemetry.sdk.autoconfigure.spi.traces.ConfigurableSpanExporterProvider;
import io.opentelemetry.sdk.trace.export.SpanExporter;

/** Registers {@code trace-etl} as the name of an exporter. */
public final class TraceEtlSpanExporterProvider implements ConfigurableSpanExporterProvider {
  @Override
  public SpanExporter createExporter(ConfigProperties config) {
    return new MarkerSpanExporter();
  }

  @Override
  public String getName() {
    return Keys.EXPORTER_NAME;
  }
}
