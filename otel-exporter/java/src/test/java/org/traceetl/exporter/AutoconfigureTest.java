package org.traceetl.exporter;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.opentelemetry.sdk.OpenTelemetrySdk;
import io.opentelemetry.sdk.autoconfigure.AutoConfiguredOpenTelemetrySdk;
import io.opentelemetry.sdk.autoconfigure.spi.ConfigurationException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.traceetl.exporter.ring.RingReader;
import org.traceetl.exporter.ring.RingSpan;

class AutoconfigureTest {
  @TempDir Path directory;
  private OtlpReceiver otlp;

  @BeforeEach
  void startReceiver() throws Exception {
    otlp = new OtlpReceiver();
  }

  @AfterEach
  void stopReceiver() {
    otlp.close();
  }

  @Test
  void exporterTraceEtlWritesSpansIntoARing() throws Exception {
    try (OpenTelemetrySdk sdk =
            sdk(
                Map.of(
                    "otel.traces.exporter", "trace-etl",
                    "otel.service.name", "shop",
                    "otel.exporter.trace-etl.directory", directory.toString(),
                    "otel.exporter.trace-etl.ring-bytes", "65536",
                    "otel.exporter.trace-etl.dictionary-bytes", "8192"));
        RingReader reader = new RingReader(RingSpanProcessorTest.ring(directory))) {
      end(sdk, "a");

      assertThat(reader.poll()).extracting(span -> span.name).containsExactly("a");
      assertThat(reader.resource()).contains(new RingSpan.Attribute("service.name", "shop"));
      assertThat(reader.file().getLong(16)).isEqualTo(8192);
      assertThat(reader.file().getLong(24)).isEqualTo(65536);
      // No queue is left in place.
      assertThat(sdk.getSdkTracerProvider().toString())
          .contains("RingSpanProcessor")
          .doesNotContain("BatchSpanProcessor");
    }
  }

  @Test
  void otherExportersKeepTheirQueue() throws Exception {
    try (OpenTelemetrySdk sdk = sdk("otlp,trace-etl", directory.toString());
        RingReader reader = new RingReader(RingSpanProcessorTest.ring(directory))) {
      end(sdk, "a");

      assertThat(reader.poll()).hasSize(1);
      sdk.getSdkTracerProvider().forceFlush().join(30, TimeUnit.SECONDS);
      assertThat(otlp.names()).containsExactly("a");
    }
  }

  @Test
  void anotherExporterCreatesNoRing() {
    try (OpenTelemetrySdk sdk = sdk("otlp", directory.toString())) {
      end(sdk, "a");
      assertThat(directory).isEmptyDirectory();
    }
  }

  @Test
  void withoutADirectorySpansGoToOtlp() {
    try (OpenTelemetrySdk sdk = sdk("trace-etl", directory + "/none")) {
      end(sdk, "a");
      assertThat(sdk.getSdkTracerProvider().forceFlush().join(30, TimeUnit.SECONDS).isSuccess())
          .isTrue();
      assertThat(otlp.names()).containsExactly("a");
      assertThat(directory).isEmptyDirectory();
    }
    assertThat(otlp.names()).containsExactly("a");
  }

  @Test
  void spansOfTheOtlpExporterAreSentOnce() {
    try (OpenTelemetrySdk sdk = sdk("trace-etl,otlp", directory + "/none")) {
      end(sdk, "a");
    }
    assertThat(otlp.names()).containsExactly("a");
  }

  @Test
  void spansGoToOtlpIfTheRingCannotBeCreated() throws Exception {
    Path file = Files.writeString(directory.resolve("file"), "");
    try (OpenTelemetrySdk sdk = sdk("trace-etl", file.toString())) {
      end(sdk, "a");
    }
    assertThat(otlp.names()).containsExactly("a");
  }

  @ParameterizedTest
  @CsvSource({
    "directory, shm/trace-etl, must be an absolute path",
    "ring-bytes, 5000000, must be a power of two from 65536 to 1073741824",
    "ring-bytes, 4MiB, Invalid value",
    "dictionary-bytes, 100, must be a multiple of 4096 from 4096 to 16777216",
  })
  void anInvalidValueIsNamedInTheError(String key, String value, String problem) {
    String property = "otel.exporter.trace-etl." + key;
    assertThatThrownBy(() -> sdk(Map.of("otel.traces.exporter", "trace-etl", property, value)))
        .isInstanceOf(ConfigurationException.class)
        .hasMessageContaining(property)
        .hasMessageContaining(value)
        .hasMessageContaining(problem);
  }

  private OpenTelemetrySdk sdk(String exporters, String rings) {
    return sdk(
        Map.of("otel.traces.exporter", exporters, "otel.exporter.trace-etl.directory", rings));
  }

  private OpenTelemetrySdk sdk(Map<String, String> properties) {
    Map<String, String> all = new HashMap<>(properties);
    all.put("otel.metrics.exporter", "none");
    all.put("otel.logs.exporter", "none");
    all.put("otel.exporter.otlp.endpoint", otlp.endpoint());
    all.put("otel.exporter.otlp.protocol", "http/protobuf");
    return AutoConfiguredOpenTelemetrySdk.builder()
        .addPropertiesSupplier(() -> all)
        .disableShutdownHook()
        .build()
        .getOpenTelemetrySdk();
  }

  private static void end(OpenTelemetrySdk sdk, String name) {
    sdk.getTracer("test").spanBuilder(name).startSpan().end();
  }
}
