package org.traceetl.perf.bench.gate;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.reflect.Field;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.FieldSource;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Param;

final class FigureTest {
  @ParameterizedTest
  @FieldSource("org.traceetl.perf.bench.gate.Figure#ALL")
  void benchmarksAndParametersExist(Figure figure) throws ReflectiveOperationException {
    assertThat(figure.benchmark().getMethod(figure.method()).isAnnotationPresent(Benchmark.class))
        .isTrue();
    Map<String, Param> parameters = new HashMap<>();
    for (Field field : figure.benchmark().getDeclaredFields()) {
      if (field.isAnnotationPresent(Param.class)) {
        parameters.put(field.getName(), field.getAnnotation(Param.class));
      }
    }

    assertThat(parameters).containsKeys(figure.parameters().keySet().toArray(String[]::new));
    // The gate runs one benchmark, so no other parameter may have two values.
    parameters.keySet().removeAll(figure.parameters().keySet());
    assertThat(parameters.values()).allSatisfy(values -> assertThat(values.value()).hasSize(1));
  }

  @ParameterizedTest
  @FieldSource("org.traceetl.perf.bench.gate.Figure#ALL")
  void everyFigureHasAnAllowedAmount(Figure figure) throws IOException {
    assertThat(Baseline.read(Path.of("baseline.csv")).of(figure)).isPresent();
  }
}
