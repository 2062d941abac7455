package org.traceetl.exporter;

import io.opentelemetry.sdk.autoconfigure.spi.ConfigProperties;
import io.opentelemetry.sdk.autoconfigure.spi.ConfigurationException;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import org.traceetl.exporter.ring.RingSize;

/** Keys and values of the SDK's configuration. */
final class Keys {
  static final String EXPORTER_NAME = "trace-etl";
  static final String TRACES_EXPORTER = "otel.traces.exporter";
  static final String DIRECTORY = "otel.exporter.trace-etl.directory";
  static final String RING_BYTES = "otel.exporter.trace-etl.ring-bytes";
  static final String DICTIONARY_BYTES = "otel.exporter.trace-etl.dictionary-bytes";

  private Keys() {}

  static Path directory(ConfigProperties config) {
    String value = config.getString(DIRECTORY);
    if (value == null) {
      return RingSpanProcessor.DEFAULT_DIRECTORY;
    }
    Path directory;
    try {
      directory = Path.of(value);
    } catch (InvalidPathException e) {
      throw new ConfigurationException(DIRECTORY + " = " + value + ": is no path", e);
    }
    if (!directory.isAbsolute()) {
      throw new ConfigurationException(DIRECTORY + " = " + value + ": must be an absolute path");
    }
    return directory;
  }

  static RingSize size(ConfigProperties config) {
    try {
      return RingSize.of(
          config.getLong(RING_BYTES, RingSize.DEFAULT_RING_BYTES),
          config.getLong(DICTIONARY_BYTES, RingSize.DEFAULT_DICTIONARY_BYTES));
    } catch (IllegalArgumentException e) {
      throw new ConfigurationException("otel.exporter.trace-etl." + e.getMessage(), e);
    }
  }
}
