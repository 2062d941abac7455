package org.traceetl.agent.forward;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.traceetl.agent.disk.Disk;
import org.traceetl.agent.flow.OtlpFormat;
import org.traceetl.agent.forward.ForwardMetrics.Drop;
import org.traceetl.common.Clocks;
import org.traceetl.common.LogThrottle;

/** A buffer whose requests are texts. */
final class TestBuffer {
  final ForwardMetrics metrics;
  final ForwardBuffer buffer;

  TestBuffer(Path directory, long maxBytes, Disk disk, String... endpoints) throws IOException {
    metrics = new ForwardMetrics(List.of(endpoints));
    buffer =
        ForwardBuffer.open(
            directory,
            maxBytes,
            List.of(endpoints),
            disk,
            metrics,
            new LogThrottle(Clocks.SYSTEM.nanoClock()));
  }

  void append(String... texts) throws IOException {
    for (String text : texts) {
      byte[] body = (text + "|unused").getBytes(UTF_8);
      buffer.append(body, text.length(), 1, OtlpFormat.PROTOBUF);
    }
  }

  /** Reads a request without completing it; null after the last one. */
  String read(String endpoint) throws IOException {
    ForwardBuffer.Read<ByteArrayOutputStream> read =
        buffer.cursor(endpoint).read(_ -> new ByteArrayOutputStream());
    return read == null ? null : read.body().toString(UTF_8);
  }

  /** Reads and completes all requests. */
  List<String> drain(String endpoint) throws IOException {
    List<String> texts = new ArrayList<>();
    for (String text = read(endpoint); text != null; text = read(endpoint)) {
      texts.add(text);
      buffer.cursor(endpoint).allDone();
    }
    buffer.cursor(endpoint).allDone();
    return texts;
  }

  double dropped(String endpoint, Drop reason) {
    return metrics.dropped(endpoint, reason);
  }
}
