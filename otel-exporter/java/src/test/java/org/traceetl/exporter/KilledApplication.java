package org.traceetl.exporter;

import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.sdk.resources.Resource;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import java.io.PrintStream;
import java.nio.file.Path;

/**
 * Ends spans by two threads until it is killed, and says after each how many its thread has ended.
 */
final class KilledApplication {
  static final int THREADS = 2;

  private KilledApplication() {}

  /** The arguments are the agent's directory, and {@code own} for the exporter's own provider. */
  public static void main(String[] arguments) {
    Path directory = Path.of(arguments[0]);
    Tracer tracer =
        arguments.length > 1
            ? TraceEtlTracerProvider.builder().setDirectory(directory).build().get("killed")
            : sdk(directory).get("killed");
    for (int t = 0; t < THREADS; t++) {
      long thread = t;
      new Thread(
              () -> {
                PrintStream out = System.out;
                for (long i = 0; ; i++) {
                  tracer
                      .spanBuilder("work")
                      .setAttribute("thread", thread)
                      .setAttribute("number", i)
                      .startSpan()
                      .end();
                  out.println(thread + " " + i);
                }
              })
          .start();
    }
  }

  private static SdkTracerProvider sdk(Path directory) {
    Resource resource = Resource.getDefault();
    return SdkTracerProvider.builder()
        .setResource(resource)
        .addSpanProcessor(
            RingSpanProcessor.builder().setDirectory(directory).setResource(resource).build())
        .build();
  }
}
