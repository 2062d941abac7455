package org.traceetl.exporter;

import io.opentelemetry.sdk.autoconfigure.spi.ConfigProperties;
import io.opentelemetry.sdk.autoconfigure.spi.traces.ConfigurableSpanExporterProvider;
import io.opentelemetry.sdk.trace.SpanProcessor;
import io.opentelemetry.sdk.trace.export.BatchSpanProcessor;
import io.opentelemetry.sdk.trace.export.BatchSpanProcessorBuilder;
import java.time.Duration;
import java.util.ServiceLoader;

/** Exports spans by OTLP, configured as by the SDK, while there is no ring. */
final class OtlpFallback {
  private static final String NAME = "otlp";

  private OtlpFallback() {}

  /**
   * Returns a processor; null if spans go by OTLP anyway or no OTLP exporter is on the class path.
   *
   * @throws io.opentelemetry.sdk.autoconfigure.spi.ConfigurationException if a key of OTLP is
   *     invalid
   */
  static SpanProcessor create(ConfigProperties config) {
    return config.getList(Keys.TRACES_EXPORTER).contains(NAME) ? null : processor(config);
  }

  /**
   * Returns a processor; null if no OTLP exporter is on the class path.
   *
   * @throws io.opentelemetry.sdk.autoconfigure.spi.ConfigurationException if a key of OTLP is
   *     invalid
   */
  static SpanProcessor processor(ConfigProperties config) {
    for (ConfigurableSpanExporterProvider provider :
        ServiceLoader.load(
            ConfigurableSpanExporterProvider.class, OtlpFallback.class.getClassLoader())) {
      if (provider.getName().equals(NAME)) {
        return queueBefore(provider, config);
      }
    }
    return null;
  }

  private static SpanProcessor queueBefore(
      ConfigurableSpanExporterProvider provider, ConfigProperties config) {
    BatchSpanProcessorBuilder builder = BatchSpanProcessor.builder(provider.createExporter(config));
    Duration delay = config.getDuration("otel.bsp.schedule.delay");
    if (delay != null) {
      builder.setScheduleDelay(delay);
    }
    Integer queue = config.getInt("otel.bsp.max.queue.size");
    if (queue != null) {
      builder.setMaxQueueSize(queue);
    }
    Integer batch = config.getInt("otel.bsp.max.export.batch.size");
    if (batch != null) {
      builder.setMaxExportBatchSize(batch);
    }
    Duration timeout = config.getDuration("otel.bsp.export.timeout");
    if (timeout != null) {
      builder.setExporterTimeout(timeout);
    }
    return builder.build();
  }
}
