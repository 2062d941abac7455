package org.traceetl.server.journal;

import static org.assertj.core.api.Assertions.assertThat;

import com.code_intelligence.jazzer.junit.FuzzTest;
import org.traceetl.server.window.QueueId;
import org.traceetl.server.window.SealedWindow;

/**
 * Any bytes at all: a record or none, and a record is written as it was read. In the usual run it
 * goes through the seeds in {@code RecordFuzzTestInputs}, the golden records; with {@code
 * JAZZER_FUZZ=1} in the environment it looks for more, for as long as said below: {@code
 * JAZZER_FUZZ=1 mvn -pl trace-etl-server -am test -Dtest=RecordFuzzTest#everyWindowIsReadOrRefused
 * -Dsurefire.failIfNoSpecifiedTests=false}.
 */
final class RecordFuzzTest {
  private static final QueueId QUEUE = new QueueId("b", 0);
  private static final int STRIDE = 10;
  private static final long SCHEMA = 0x0123_4567_89AB_CDEFL;

  @FuzzTest(maxDuration = "2m")
  void everyWindowIsReadOrRefused(byte[] bytes) throws MalformedRecordException {
    SealedWindow window;
    try {
      window = WindowFormat.decode(bytes, 0, bytes.length, QUEUE);
    } catch (MalformedRecordException e) {
      return;
    }
    byte[] again = bytes(window);
    assertThat(bytes(WindowFormat.decode(again, 0, again.length, QUEUE))).isEqualTo(again);
  }

  private static byte[] bytes(SealedWindow window) {
    RecordWriter writer = new RecordWriter();
    WindowFormat.encode(window, writer);
    return writer.toByteArray();
  }

  @FuzzTest(maxDuration = "2m")
  void everySnapshotIsReadOrRefused(byte[] bytes) throws MalformedRecordException {
    QueueImage image = new QueueImage(SCHEMA, STRIDE, 10);
    try {
      SnapshotFormat.decode(bytes, 0, bytes.length, image);
    } catch (MalformedRecordException e) {
      return;
    }
    byte[] again = bytes(image);
    QueueImage reread = new QueueImage(SCHEMA, STRIDE, 10);
    SnapshotFormat.decode(again, 0, again.length, reread);
    assertThat(bytes(reread)).isEqualTo(again);
  }

  private static byte[] bytes(QueueImage image) {
    RecordWriter writer = new RecordWriter();
    SnapshotFormat.encode(image, writer);
    return writer.toByteArray();
  }
}
