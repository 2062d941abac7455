package org.traceetl.exporter;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.traceetl.exporter.ring.RingReader;
import org.traceetl.exporter.ring.RingSpan;

/**
 * The exporter in the oldest Java that it is for. JUnit needs a newer one, so an application is
 * compiled for it and run: {@code -Dtraceetl.java11=…/bin/java}.
 */
class Java11Test {
  private static final String JAVA = System.getProperty("traceetl.java11", "");
  private static final String APPLICATION =
      String.join(
          "\n",
          "import io.opentelemetry.api.trace.*;",
          "import io.opentelemetry.sdk.trace.SdkTracerProvider;",
          "import java.nio.file.Path;",
          "import org.traceetl.exporter.RingSpanProcessor;",
          "import org.traceetl.exporter.TraceEtlTracerProvider;",
          "public class Application {",
          "  public static void main(String[] arguments) throws Exception {",
          "    Path rings = Path.of(arguments[0]);",
          "    TracerProvider provider =",
          "        arguments[1].equals(\"own\")",
          "            ? TraceEtlTracerProvider.builder().setDirectory(rings).build()",
          "            : SdkTracerProvider.builder()",
          "                .addSpanProcessor(RingSpanProcessor.builder().setDirectory(rings).build())",
          "                .build();",
          "    Tracer tracer = provider.get(\"old\");",
          "    Thread[] threads = new Thread[4];",
          "    for (int t = 0; t < 4; t++) {",
          "      long first = 1_000L * t;",
          "      threads[t] = new Thread(() -> {",
          "        for (long i = first; i < first + 1_000; i++) {",
          "          Span span = tracer.spanBuilder(\"work\").setAttribute(\"number\", i).startSpan();",
          "          span.recordException(new IllegalStateException(\"gr\\u00f6\\u00dfer\"));",
          "          span.setStatus(StatusCode.ERROR, \"no\").end();",
          "        }",
          "      });",
          "      threads[t].start();",
          "    }",
          "    for (Thread thread : threads) {",
          "      thread.join();",
          "    }",
          "    System.out.println(System.getProperty(\"java.specification.version\"));",
          "    Runtime.getRuntime().halt(0);",
          "  }",
          "}");

  @TempDir Path directory;

  @ParameterizedTest
  @ValueSource(strings = {"sdk", "own"})
  @Timeout(60)
  void everySpanOfAnApplicationInJava11IsThere(String provider) throws Exception {
    String missing = "the Java exporter in Java 11: -Dtraceetl.java11 names none";
    System.out.println(JAVA.isEmpty() ? "NOT RUN: " + missing : "Real component: Java 11, " + JAVA);
    assumeFalse(JAVA.isEmpty(), missing);
    Path rings = Files.createDirectory(directory.resolve("rings"));
    Path source = Files.writeString(directory.resolve("Application.java"), APPLICATION);
    String classPath = System.getProperty("java.class.path");
    assertThat(
            ToolProvider.getSystemJavaCompiler()
                .run(
                    null,
                    null,
                    null,
                    "--release",
                    "11",
                    "-cp",
                    classPath,
                    "-d",
                    directory.toString(),
                    source.toString()))
        .isZero();

    Path output = directory.resolve("output");
    Process application =
        new ProcessBuilder(
                JAVA,
                "-Xmx128m",
                "-cp",
                directory + ":" + classPath,
                "Application",
                rings.toString(),
                provider)
            .redirectErrorStream(true)
            .redirectOutput(output.toFile())
            .start();

    assertThat(application.waitFor()).as(Files.readString(output)).isZero();
    assertThat(Files.readAllLines(output)).endsWith("11");
    try (RingReader reader = new RingReader(ring(rings))) {
      List<RingSpan> spans = reader.drain();
      assertThat(spans.stream().map(span -> (Long) span.attribute("number")))
          .containsExactlyInAnyOrderElementsOf(
              LongStream.range(0, 4_000).boxed().collect(Collectors.toList()));
      assertThat(spans).allSatisfy(span -> assertThat(span.toString()).contains("größer"));
    }
  }

  private static Path ring(Path rings) throws IOException {
    try (Stream<Path> files = Files.list(rings)) {
      return files.filter(file -> file.toString().endsWith(".ring")).findFirst().orElseThrow();
    }
  }
}
