package org.traceetl.perf.systest.chaos;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;

/** A trace log in the format of OzHera's exporter, which an agent follows. Thread-safe. */
final class TraceLog implements AutoCloseable {
  private static final int APPENDS_PER_FILE = 20;

  private final Path path;
  private final boolean rotates;
  private FileChannel file;
  private int appends;
  private boolean held;

  /**
   * @param rotates whether the file is renamed after some appends, and a new one created
   */
  TraceLog(Path path, boolean rotates) throws IOException {
    this.path = path;
    this.rotates = rotates;
    Files.createDirectories(path.getParent());
    file = open();
  }

  private FileChannel open() throws IOException {
    return FileChannel.open(path, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
  }

  private void rotate() throws IOException {
    file.close();
    Files.move(path, path.resolveSibling(path.getFileName() + "." + appends / APPENDS_PER_FILE));
    file = open();
  }

  /** Blocks appends until {@link #release}. */
  synchronized void hold() {
    held = true;
  }

  /** Truncates the file to zero bytes, as copytruncate does; the writer keeps its file open. */
  synchronized void truncate() throws IOException {
    FileChannel.open(path, StandardOpenOption.WRITE, StandardOpenOption.TRUNCATE_EXISTING).close();
  }

  /** Lets appends continue. */
  synchronized void release() {
    held = false;
    notifyAll();
  }

  synchronized void append(List<SentSpan> spans) throws IOException, InterruptedException {
    while (held) {
      wait();
    }
    if (rotates && appends > 0 && appends % APPENDS_PER_FILE == 0) {
      rotate();
    }
    appends++;
    StringBuilder lines = new StringBuilder();
    for (SentSpan span : spans) {
      lines.append("2026-01-01 00:00:00.000 ||| ");
      for (String field :
          List.of(
              Long.toString(span.startUnixNanos()),
              Long.toString(span.durationNanos()),
              "127.0.0.1",
              span.service(),
              span.name(),
              span.statusName(),
              span.traceId(),
              span.spanId(),
              "[{\"key\":\"span.kind\",\"type\":\"string\",\"value\":\""
                  + span.kindName().toLowerCase(java.util.Locale.ROOT)
                  + "\"},{\"key\":\""
                  + SentSpan.INTERVAL
                  + "\",\"type\":\"string\",\"value\":\""
                  + span.interval()
                  + "\"}]",
              "[]",
              "{\"serviceName\":\"" + span.service() + "\",\"tags\":[]}",
              "[]")) {
        lines.append(field).append(" ### ");
      }
      lines.append('\n');
    }
    ByteBuffer bytes = ByteBuffer.wrap(lines.toString().getBytes(UTF_8));
    while (bytes.hasRemaining()) {
      file.write(bytes);
    }
  }

  @Override
  public synchronized void close() throws IOException {
    file.close();
  }
}
