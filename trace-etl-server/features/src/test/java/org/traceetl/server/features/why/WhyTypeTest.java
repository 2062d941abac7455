package org.traceetl.server.features.why;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.lang.reflect.Proxy;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.traceetl.proto.LearntNames;
import org.traceetl.proto.NameRule;
import org.traceetl.proto.NameRules;
import org.traceetl.server.assembly.ServerContext;
import org.traceetl.server.config.CoreConfig;
import org.traceetl.server.config.HistogramConfig;
import org.traceetl.server.config.MetricsConfig.Unit;
import org.traceetl.server.config.SeriesConfig;
import org.traceetl.server.decode.SpanRulesInForce;
import org.traceetl.server.series.SpanNames;

/** By which names operations are found. */
final class WhyTypeTest {
  /** Implements the methods of a type that the test is about. */
  private static <T> T only(Class<T> type, Map<String, Supplier<?>> methods) {
    return type.cast(
        Proxy.newProxyInstance(
            type.getClassLoader(),
            new Class<?>[] {type},
            (proxy, method, arguments) -> methods.get(method.getName()).get()));
  }

  private static String resolve(SpanNames names, String name) {
    byte[] bytes = name.getBytes(UTF_8);
    names.nextBatch("shop", 1);
    names.resolve(0, bytes, 0, bytes.length);
    return new String(names.buffer(), names.offset(), names.length(), UTF_8);
  }

  @Test
  void operationsHaveTheLearntNamesInForce() {
    AtomicReference<LearntNames> learnt = new AtomicReference<>(LearntNames.NONE);
    SeriesConfig series = SeriesConfig.defaults();
    SpanRulesInForce rules =
        new SpanRulesInForce(
            series, new HistogramConfig(null, null, null), Unit.SECONDS, List.of(), null);
    CoreConfig config = only(CoreConfig.class, Map.of("series", () -> series));
    ServerContext context =
        only(
            ServerContext.class,
            Map.of("config", () -> config, "spanRules", () -> rules, "learnt", learnt::get));
    SpanNames names = WhyType.names(context).apply("shop");

    assertThat(resolve(names, "/users/jane/42")).isEqualTo("/users/jane/{id}");

    learnt.set(
        new LearntNames(
            1, 1, Map.of("shop", new NameRules(List.of(new NameRule("/users/", 1, 501, 1))))));

    assertThat(resolve(names, "/users/jane/42")).isEqualTo("/users/{*}/{id}");
  }
}
