package org.traceetl.exporter;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.opentelemetry.sdk.autoconfigure.spi.ConfigProperties;
import io.opentelemetry.sdk.autoconfigure.spi.ConfigurationException;
import io.opentelemetry.sdk.autoconfigure.spi.internal.DefaultConfigProperties;
import java.util.Map;
import java.util.function.Function;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class EnvironmentTest {
  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        " ",
        "1",
        "-7",
        "9223372036854775807",
        "0.25",
        "true",
        "False",
        "5s",
        "10ms",
        "3 h",
        "2us",
        "9ns",
        "1d",
        "4m",
        "4x",
        "s",
        "a,b , ,c",
        "a=1,b=2,a=3,c=",
        "=1",
        "x"
      })
  void aValueIsReadAsByTheSdk(String value) {
    ConfigProperties expected =
        DefaultConfigProperties.createFromMap(Map.of("otel.some.key", value));
    ConfigProperties actual =
        new Environment(name -> null, name -> name.equals("OTEL_SOME_KEY") ? value : null);
    for (Function<ConfigProperties, Object> read :
        Map.<String, Function<ConfigProperties, Object>>of(
                "string", config -> config.getString("otel.some-key"),
                "boolean", config -> value.isBlank() ? null : config.getBoolean("otel.some-key"),
                "list", config -> config.getList("otel.some-key"),
                "int", config -> value.equals(" ") ? null : config.getInt("otel.some-key"),
                "long", config -> value.equals(" ") ? null : config.getLong("otel.some-key"),
                "double", config -> value.equals(" ") ? null : config.getDouble("otel.some-key"),
                "map", config -> config.getMap("otel.some-key"),
                "duration",
                    config -> value.equals(" ") ? null : config.getDuration("otel.some-key"))
            .values()) {
      assertThat(result(read, actual)).isEqualTo(result(read, expected));
    }
  }

  @Test
  void aSystemPropertyIsReadFirst() {
    Environment environment =
        new Environment(name -> name.equals("otel.a") ? "1" : null, name -> "2");
    assertThat(environment.getInt("otel.a")).isEqualTo(1);
    assertThat(environment.getInt("otel.b")).isEqualTo(2);
  }

  @Test
  void anInvalidValueIsNamedInTheError() {
    Environment environment = new Environment(name -> null, name -> "many");
    assertThatThrownBy(() -> environment.getDuration("otel.a"))
        .isInstanceOf(ConfigurationException.class)
        .hasMessageContaining("otel.a=many");
  }

  private static Object result(Function<ConfigProperties, Object> read, ConfigProperties config) {
    try {
      return read.apply(config);
    } catch (ConfigurationException e) {
      return "invalid";
    }
  }
}
