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

  /** The one argument is the agent's directory. */
  public static void main(String[] arguments) {
    Resource resource = Resource.getDefault();
    SdkTracerProvider provider =
        SdkTracerProvider.builder()
            .setResource(resource)
            .addSpanProcessor(
                RingSpanProcessor.builder()
                    .setDirectory(Path.of(arguments[0]))
                    .setResource(resource)
                    .build())
            .build();
    Tracer tracer = provider.get("killed");
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
}
