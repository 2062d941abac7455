package org.traceetl.server.journal.chain;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Base64;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.traceetl.common.Clocks;
import org.traceetl.server.journal.ForwardingLog;
import org.traceetl.server.journal.JournalCounters;
import org.traceetl.server.journal.JournalLog;
import org.traceetl.server.journal.JournalLogs;
import org.traceetl.server.journal.JournalTiming;
import org.traceetl.server.journal.MemoryLogs;
import org.traceetl.server.journal.Windows;
import org.traceetl.server.journal.format.ChunkFormatTest;
import org.traceetl.server.journal.log.AuthenticatedFormat;
import org.traceetl.server.journal.log.AuthenticatedLogs;
import org.traceetl.server.journal.log.JournalKey;
import org.traceetl.server.journal.log.JournalKeys;
import org.traceetl.server.window.QueueId;

class LogInspectionTest {
  private static final QueueId QUEUE = new QueueId("broker-a", 0);
  private static final String TOPIC = "trace-windows";

  @TempDir private Path directory;

  private final MemoryLogs logs = new MemoryLogs();
  private final MemoryLogs.MemoryLog log = logs.open(QUEUE);
  private final StringWriter out = new StringWriter();

  private JournalKeys keys(int secret) throws IOException {
    byte[] bytes = new byte[32];
    bytes[0] = (byte) secret;
    Path file =
        Files.writeString(
            directory.resolve("keys-" + secret),
            "\n# of the test\nk1 " + Base64.getEncoder().encodeToString(bytes) + " active\n");
    JournalKeys.check(file, false);
    return new JournalKeys(file, false, () -> 0);
  }

  private LogJournals journals(JournalKeys keys) {
    return journals(
        keys == null ? logs : new AuthenticatedLogs(logs, TOPIC, keys, new JournalCounters()));
  }

  private LogJournals journals(JournalLogs of) {
    return new LogJournals(
        of,
        "trace-spans",
        "servers",
        Windows::newImage,
        new JournalTiming(
            new Clocks(System::nanoTime, Clocks.SYSTEM.wall(), nanos -> {}),
            new Random(1),
            Duration.ofSeconds(30),
            Duration.ofMinutes(10)),
        new JournalCounters());
  }

  private LogInspection inspection(JournalKeys keys) {
    return new LogInspection(
        logs, journals(keys), TOPIC, "trace-spans", keys, QUEUE, new PrintWriter(out, true));
  }

  private String print(JournalKeys keys, long most) throws Exception {
    out.getBuffer().setLength(0);
    inspection(keys).print(most);
    return out.toString();
  }

  @Test
  void messagesArePrintedUpToTheNumberThatIsAskedFor() throws Exception {
    journals((JournalKeys) null).take(QUEUE).journal().append(Windows.window(QUEUE, 0, 10, 1));
    log.store(new byte[] {1});

    assertThat(print(null, 10))
        .startsWith("journal of queue broker-a/0: offsets 0 to 3\n")
        .contains("key=none record=CLAIM chunk=1/1 epoch=1 number=0")
        .contains("record=WINDOW chunk=1/1 epoch=1 number=1 from=0 to=10")
        .contains("offset=2 bytes=1 key=none rejected=foreign")
        .endsWith("Servers can read it to its end.\n");
    assertThat(print(null, 1)).doesNotContain("WINDOW").contains("offset=2");
  }

  @Test
  void aLogWhoseEndIsNotReadableYetIsPrintedAsFarAsItGoes() throws Exception {
    log.store(new byte[] {1});
    log.store(new byte[] {2});
    JournalLogs lagging =
        new JournalLogs() {
          private int opened;

          @Override
          public JournalLog open(QueueId queue) {
            long end = opened++ == 0 ? 1 : 5;
            return new ForwardingLog(log) {
              @Override
              public long end() {
                return end;
              }
            };
          }

          @Override
          public void close() {}
        };
    for (int times = 0; times < 2; times++) {
      new LogInspection(
              lagging,
              journals((JournalKeys) null),
              TOPIC,
              "trace-spans",
              null,
              QUEUE,
              new PrintWriter(out, true))
          .print(9);
    }
    assertThat(out.toString().split("offset=1 ")).hasSize(2);
  }

  @Test
  void aMessageThatStopsServersIsSteppedOver() throws Exception {
    journals((JournalKeys) null).take(QUEUE).journal().append(Windows.window(QUEUE, 0, 10, 1));
    log.store(ChunkFormatTest.ofVersion(9, log.read(1).getFirst().body()));
    LogInspection inspection = inspection(null);
    assertThat(print(null, 9)).contains("Servers stop: ");

    assertThatThrownBy(() -> inspection.stepOver(1, "wrong place"))
        .hasMessageContaining("servers stop at offset 2");
    assertThatThrownBy(() -> inspection.stepOver(2, " ")).hasMessageContaining("must have 1 to");
    assertThatThrownBy(() -> inspection.stepOver(2, "x".repeat(201)))
        .hasMessageContaining("must have 1 to");
    inspection.stepOver(2, "a \"test\"");
    assertThat(print(null, 9)).contains("record=STEP").contains("reason=\"a ?test?\"");
    assertThatThrownBy(() -> inspection.stepOver(2, "again"))
        .hasMessageContaining("nothing stops servers");
  }

  @Test
  void keysAreCheckedAndNothingVerifiedIsSteppedOverAtOnce() throws Exception {
    JournalKeys mine = keys(1);
    journals(keys(2)).take(QUEUE);
    assertThat(print(mine, 9)).contains("key=unknown").contains("can be verified");
    inspection(mine).stepOver(0, "written by others");
    JournalKey key = mine.ring().active();
    byte[] sealed =
        new AuthenticatedFormat(TOPIC, QUEUE).seal(AuthenticatedFormat.KEY, new byte[] {'k'}, key);
    log.store(sealed);
    byte[] changed = sealed.clone();
    changed[changed.length - 1]++;
    log.store(changed);

    assertThat(print(mine, 9))
        .contains("key=" + key.id() + " record=STEP")
        .contains("key=" + key.id() + " announces a key")
        .contains("key=" + key.id() + " rejected=unauthenticated");
    assertThat(print(null, 9)).contains("key=unknown");
  }

  @Test
  void aLogWithoutItsBeginningStopsNoServer() throws Exception {
    log.store(new byte[] {1});
    log.store(new byte[] {2});
    log.deleteBefore(1);

    assertThat(print(null, 9)).endsWith("Servers can read it to its end.\n");
  }
}
