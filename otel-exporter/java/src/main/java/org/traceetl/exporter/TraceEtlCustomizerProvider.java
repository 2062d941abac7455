package org.traceetl.exporter;

import io.opentelemetry.sdk.autoconfigure.spi.AutoConfigurationCustomizer;
import io.opentelemetry.sdk.autoconfigure.spi.AutoConfigurationCustomizerProvider;
import io.opentelemetry.sdk.autoconfigure.spi.ConfigProperties;
import io.opentelemetry.sdk.resources.Resource;
import io.opentelemetry.sdk.trace.SdkTracerProviderBuilder;
import io.opentelemetry.sdk.trace.SpanProcessor;
import io.opentelemetry.sdk.trace.export.BatchSpanProcessor;

/**
 * Installs a {@link RingSpanProcessor} if {@code otel.traces.exporter} contains {@code trace-etl}.
 * It replaces the SDK's queue before the exporter.
 */
public final class TraceEtlCustomizerProvider implements AutoConfigurationCustomizerProvider {
  @Override
  public void customize(AutoConfigurationCustomizer configuration) {
    Customization customization = new Customization();
    configuration.addResourceCustomizer(customization::resource);
    configuration.addSpanProcessorCustomizer(customization::processor);
    configuration.addTracerProviderCustomizer(customization::tracerProvider);
  }

  /** Runs last, when the resource is complete. */
  @Override
  public int order() {
    return Integer.MAX_VALUE;
  }

  /** Of one SDK, whose builder calls the methods in this order. */
  private static final class Customization {
    private Resource resource = Resource.getDefault();
    private boolean done;

    Resource resource(Resource complete, ConfigProperties config) {
      resource = complete;
      return complete;
    }

    /** Replaces the queue, if trace-etl is its only exporter and no other component wrapped it. */
    SpanProcessor processor(SpanProcessor processor, ConfigProperties config) {
      if (done
          || !(processor instanceof BatchSpanProcessor)
          || !(((BatchSpanProcessor) processor).getSpanExporter() instanceof MarkerSpanExporter)) {
        return processor;
      }
      processor.shutdown();
      done = true;
      return ring(config);
    }

    /** Adds the processor if trace-etl is one of several exporters, which keep their queue. */
    SdkTracerProviderBuilder tracerProvider(
        SdkTracerProviderBuilder builder, ConfigProperties config) {
      if (!done && config.getList(Keys.TRACES_EXPORTER).contains(Keys.EXPORTER_NAME)) {
        done = true;
        builder.addSpanProcessor(ring(config));
      }
      return builder;
    }

    private SpanProcessor ring(ConfigProperties config) {
      return RingSpanProcessor.builder()
          .setDirectory(Keys.directory(config))
          .setSize(Keys.size(config))
          .setResource(resource)
          .setFallback(() -> OtlpFallback.create(config))
          .build();
    }
  }
}
