package org.traceetl.agent;

import com.sun.management.HotSpotDiagnosticMXBean;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.traceetl.agent.config.AgentConfig;
import org.traceetl.agent.config.ForwardConfig;
import org.traceetl.agent.config.ForwardConfig.Keep;
import org.traceetl.agent.kubernetes.KubernetesPods;
import org.traceetl.agent.otlp.OtlpWriter;
import org.traceetl.agent.spool.Spool;
import org.traceetl.agent.telemetry.TelemetryServer;

/**
 * Compares the most memory that each stage may use, by configuration, with the JVM's limits. Stages
 * rarely reach their bounds together, but senders cannot make them exceed the sum.
 */
final class MemoryBounds {
  private static final Logger log = LoggerFactory.getLogger(MemoryBounds.class);

  private static final long KIB = 1_024;
  private static final long MIB = 1_024 * KIB;

  /** Threads that read requests and decompress them. */
  private static final int IO_THREADS = 2;

  /**
   * A connection and its requests: four heads over HTTP, or sixteen calls over gRPC, whose heads
   * are not kept.
   */
  private static final long CONNECTION_HEAP_BYTES = 64 * KIB;

  /** One read that waits for an answer, or one TLS record in and one out. */
  private static final long CONNECTION_DIRECT_BYTES = 64 * KIB;

  /** The index entry of a batch in the spool. */
  private static final long SPOOLED_BATCH_BYTES = 150;

  /** An answered request, identified by its hashes. */
  private static final long ANSWERED_REQUEST_BYTES = 160;

  /** A followed trace log with its position. */
  private static final long FILE_BYTES = 4 * KIB;

  /** A ring that is read, with the state of its file. */
  private static final long RING_BYTES = 4 * KIB;

  /** Arrays that copy records of rings to payloads; free ones are held weakly. */
  private static final long RING_ARRAYS_BYTES = 2 * MIB;

  /** A scrape: its head, its page as text and as bytes, and TLS records. */
  private static final long SCRAPE_HEAP_BYTES = 192 * KIB;

  /** The page while it is sent. */
  private static final long SCRAPE_DIRECT_BYTES = 64 * KIB;

  /** Requests in flight to an endpoint in addition to the largest one, and its client. */
  private static final long ENDPOINT_HEAP_BYTES = 2 * MIB;

  /** Buffers that read and write segments, and those of an endpoint's client. */
  private static final long ENDPOINT_DIRECT_BYTES = 512 * KIB;

  /**
   * The most memory of a stage.
   *
   * @param name name in the documentation
   * @param heapBytes bytes of heap
   * @param directBytes bytes of direct memory
   */
  record Stage(String name, long heapBytes, long directBytes) {}

  private final List<Stage> stages = new ArrayList<>();

  private MemoryBounds() {}

  static MemoryBounds of(AgentConfig config) {
    MemoryBounds bounds = new MemoryBounds();
    long inFlight = config.pipeline().maxBytesInFlight();
    if (config.otlp().enabled()) {
      long connections = config.otlp().limits().maxConnections();
      bounds.add(
          "connections",
          connections * CONNECTION_HEAP_BYTES,
          connections * CONNECTION_DIRECT_BYTES);
      // Up to half of a long buffer may be unused capacity.
      bounds.add("requests being read", 0, 2 * inFlight);
      // Each request in pieces, and whole.
      bounds.add("decompression", 2L * IO_THREADS * config.otlp().maxRequestBytes(), 0);
    }
    bounds.add("payloads in flight", inFlight, 0);
    bounds.add("batches on their way into the spool", inFlight, 0);
    bounds.add("batches in memory until they are confirmed", inFlight, inFlight);
    bounds.add(
        "open batches", config.pipeline().openBatches() * config.pipeline().mostHeldByBatch(), 0);
    bounds.add("resources", 20 * MIB, 0);
    bounds.add("spool's index", config.spool().maxBatches() * SPOOLED_BATCH_BYTES, MIB);
    bounds.add("answered requests", Spool.mostRequests(config.spool()) * ANSWERED_REQUEST_BYTES, 0);
    bounds.add(
        "trace logs", 1_024 * FILE_BYTES + 3 * Math.max(MIB, config.files().maxLineBytes()), 0);
    if (config.ring().enabled()) {
      // The extra half is for a dictionary's new strings while they are read.
      bounds.add(
          "rings",
          config.ring().maxDictionaryBytes() * 3L / 2
              + config.ring().maxRings() * RING_BYTES
              + RING_ARRAYS_BYTES,
          0);
    }
    int endpoints = config.forward().endpoints().size();
    if (endpoints > 0) {
      long request = config.otlp().maxRequestBytes();
      bounds.add(
          "forwarding",
          // Arrays are up to a quarter longer than their request.
          Math.max(ForwardConfig.QUEUE_BYTES, request * 5 / 4)
              + OtlpWriter.HEAP_BYTES
              + endpoints * (request + ENDPOINT_HEAP_BYTES),
          (endpoints + 1) * ENDPOINT_DIRECT_BYTES);
      if (config.forward().keep().enabled()) {
        // One that is decided on, and in case it is JSON, a growing copy in protobuf.
        bounds.add("tail keeping", 3 * request + Keep.MARKS_BYTES, ENDPOINT_DIRECT_BYTES);
      }
    }
    if (config.kubernetes().enabled()) {
      bounds.add("pods", KubernetesPods.HEAP_BYTES, 0);
    }
    if (config.telemetry().enabled()) {
      bounds.add(
          "scrapes",
          TelemetryServer.MAX_CONNECTIONS * SCRAPE_HEAP_BYTES,
          TelemetryServer.MAX_CONNECTIONS * SCRAPE_DIRECT_BYTES);
    }
    bounds.add("the program itself", 24 * MIB, 8 * MIB);
    return bounds;
  }

  private void add(String name, long heapBytes, long directBytes) {
    stages.add(new Stage(name, heapBytes, directBytes));
  }

  List<Stage> stages() {
    return List.copyOf(stages);
  }

  long heapBytes() {
    return stages.stream().mapToLong(Stage::heapBytes).sum();
  }

  long directBytes() {
    return stages.stream().mapToLong(Stage::directBytes).sum();
  }

  /** Logs in one line whether the bounds fit this JVM's memory. */
  void tell() {
    String text = describe(Runtime.getRuntime().maxMemory(), maxDirectBytes());
    if (fit(Runtime.getRuntime().maxMemory(), maxDirectBytes())) {
      log.info("{}", text);
    } else {
      log.warn(
          "{}. At these limits the agent runs out of memory. Raise -Xmx and"
              + " -XX:MaxDirectMemorySize, or lower pipeline.max-bytes-in-flight,"
              + " otlp.max-connections, otlp.max-request-bytes or pipeline.open-batches",
          text);
    }
  }

  boolean fit(long maxHeapBytes, long maxDirectBytes) {
    return heapBytes() <= maxHeapBytes && directBytes() <= maxDirectBytes;
  }

  String describe(long maxHeapBytes, long maxDirectBytes) {
    return String.format(
        Locale.ROOT,
        "Memory: with all stages at their limits, the agent uses %d of %d MiB of heap and %d of"
            + " %d MiB of direct memory",
        Math.ceilDiv(heapBytes(), MIB),
        maxHeapBytes / MIB,
        Math.ceilDiv(directBytes(), MIB),
        maxDirectBytes / MIB);
  }

  private static long maxDirectBytes() {
    long set =
        Long.parseLong(
            ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class)
                .getVMOption("MaxDirectMemorySize")
                .getValue());
    // The JDK's default.
    return set == 0 ? Runtime.getRuntime().maxMemory() : set;
  }
}
