package org.traceetl.server.telemetry;

import io.prometheus.client.Collector;
import io.prometheus.client.Gauge;
import io.prometheus.client.exporter.common.TextFormat;
import io.prometheus.client.hotspot.DefaultExports;
import java.io.IOException;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import org.traceetl.server.component.MetricRegistry;
import org.traceetl.server.expose.Format;
import org.traceetl.server.journal.WindowFollower;

/**
 * The server's own metrics, in a registry of its own. Components register while the server is
 * assembled. Reading is thread-safe and changes nothing.
 */
public final class ServerTelemetry extends MetricRegistry {
  private static final int MAX_APPLICATIONS = 10_000;
  private static final String EDGES_PREFIX = "trace_etl_edges_";
  private final String version;
  private final long idleMillis;
  private final ApplicationBooks books;

  /** Null if none are shown. */
  private volatile TargetInfo targets;

  /**
   * @param version version of this build
   * @param idle time without spans after which an application is removed
   */
  public ServerTelemetry(String version, Duration idle) {
    this.version = version;
    Gauge.build("trace_etl_build_info", "Always 1; the label contains the server's version.")
        .labelNames("version")
        .register(collectors())
        .labels(version)
        .set(1);
    idleMillis = idle.toMillis();
    books = new ApplicationBooks(MAX_APPLICATIONS, idleMillis);
    DefaultExports.register(collectors());
  }

  /** Returns a follower that adds up the books of its windows. */
  public WindowFollower books() {
    return books;
  }

  /**
   * Adds the metrics of the pipeline of half-edges, which are those of spans, with {@code
   * trace_etl_edges_} in place of {@code trace_etl_}.
   *
   * @param pipeline has them under the names of spans
   * @return adds up the books of its windows
   */
  public WindowFollower addEdges(MetricRegistry pipeline) {
    ApplicationBooks its = new ApplicationBooks(MAX_APPLICATIONS, idleMillis);
    include(
        () -> {
          List<Collector.MetricFamilySamples> families = its.samples();
          families.addAll(Collections.list(pipeline.collectors().metricFamilySamples()));
          return families;
        },
        EDGES_PREFIX);
    return its;
  }

  /** Adds the family of targets to the pages, and their number. Called once. */
  public void show(TargetInfo info) {
    info.register(this);
    targets = info;
  }

  /** Returns the version of this build. */
  public String version() {
    return version;
  }

  /** Returns all families as the end of a page, with {@code # EOF} in OpenMetrics. */
  public byte[] families(Format format) {
    List<Collector.MetricFamilySamples> families = books.samples();
    TargetInfo info = targets;
    if (info != null) {
      info.addTo(families, format);
    }
    families.addAll(Collections.list(collectors().metricFamilySamples()));
    if (format.isProtobuf()) {
      return new ProtobufFamilies().write(families);
    }
    var out = new StringWriter(1 << 15);
    try {
      if (format.isOpenMetrics2()) {
        return new OpenMetrics2Families().write(families);
      }
      if (format.isOpenMetrics()) {
        TextFormat.writeOpenMetrics100(out, Collections.enumeration(families));
      } else {
        families.replaceAll(ServerTelemetry::withoutCreationTimes);
        TextFormat.write004(out, Collections.enumeration(families));
      }
    } catch (IOException e) {
      throw new UncheckedIOException("writing to memory", e);
    }
    return out.toString().getBytes(StandardCharsets.UTF_8);
  }

  /** Text 0.0.4 has no creation times; they would appear as separate families. */
  private static Collector.MetricFamilySamples withoutCreationTimes(
      Collector.MetricFamilySamples family) {
    return new Collector.MetricFamilySamples(
        family.name,
        family.unit,
        family.type,
        family.help,
        family.samples.stream().filter(sample -> !sample.name.endsWith("_created")).toList());
  }
}
