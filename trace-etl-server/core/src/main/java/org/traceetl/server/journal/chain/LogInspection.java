package org.traceetl.server.journal.chain;

import java.io.IOException;
import java.io.PrintWriter;
import java.time.Instant;
import java.util.List;
import org.traceetl.server.journal.JournalLog;
import org.traceetl.server.journal.JournalLog.Entry;
import org.traceetl.server.journal.JournalLogs;
import org.traceetl.server.journal.RecordRejection;
import org.traceetl.server.journal.chain.LogJournals.Stop;
import org.traceetl.server.journal.format.ChunkFormat;
import org.traceetl.server.journal.format.RecordChunk;
import org.traceetl.server.journal.format.RecordHeader;
import org.traceetl.server.journal.log.AuthenticatedFormat;
import org.traceetl.server.journal.log.AuthenticatedFormat.Sealed;
import org.traceetl.server.journal.log.JournalKey;
import org.traceetl.server.journal.log.JournalKeys;
import org.traceetl.server.window.QueueId;

/**
 * Inspects one queue's log for an operator: prints its messages, one per line, and what stops
 * servers, and can step over it.
 */
public final class LogInspection {
  private final JournalLogs logs;
  private final LogJournals journals;
  private final JournalKeys keys;
  private final QueueId queue;
  private final ChunkFormat format;
  private final AuthenticatedFormat authenticated;
  private final PrintWriter out;

  /**
   * @param logs as on the broker, including codes
   * @param journals as servers read them
   * @param topic of the journal
   * @param spanTopic topic of the spans
   * @param keys null for none
   */
  public LogInspection(
      JournalLogs logs,
      LogJournals journals,
      String topic,
      String spanTopic,
      JournalKeys keys,
      QueueId queue,
      PrintWriter out) {
    this.logs = logs;
    this.journals = journals;
    this.keys = keys;
    this.queue = queue;
    this.out = out;
    format = new ChunkFormat(spanTopic, queue, ChunkFormat.MAX_PAYLOAD_BYTES);
    authenticated = new AuthenticatedFormat(topic, queue);
  }

  /**
   * Prints the newest messages, and whether servers can read the log.
   *
   * @param most maximum number of printed messages
   * @throws IOException if the log cannot be read
   */
  public void print(long most) throws IOException, InterruptedException {
    JournalLog log = logs.open(queue);
    long begin = log.begin();
    long end = log.end();
    out.println("journal of queue " + queue + ": offsets " + begin + " to " + end);
    long next = Math.max(begin, end - most);
    while (next < end) {
      List<Entry> entries = log.read(next);
      if (entries.isEmpty()) {
        break;
      }
      for (Entry entry : entries) {
        next = entry.offset() + 1;
        if (entry.offset() < end) {
          out.println(line(entry));
        }
      }
    }
    printStop(journals.stop(queue));
  }

  private void printStop(Stop stop) {
    out.println(stop == null ? "Servers can read it to its end." : "Servers stop: " + stop.why());
  }

  /**
   * Makes all servers skip the message that stops them.
   *
   * @param offset of that message
   * @param reason at most {@value StepOverRecord#MAX_REASON} characters
   * @throws IllegalArgumentException if the message does not stop them, or the reason is too long
   * @throws IOException if the log cannot be read or written
   */
  public void stepOver(long offset, String reason) throws IOException, InterruptedException {
    if (reason.isBlank() || reason.length() > StepOverRecord.MAX_REASON) {
      throw new IllegalArgumentException(
          "--reason has "
              + reason.length()
              + " characters: must have 1 to "
              + StepOverRecord.MAX_REASON);
    }
    Stop stop = journals.stop(queue);
    if (stop == null) {
      throw new IllegalArgumentException(
          "--step-over = " + offset + ": nothing stops servers in the journal of queue " + queue);
    }
    if (stop.offset() != JournalLog.NONE && stop.offset() != offset) {
      throw new IllegalArgumentException(
          "--step-over = "
              + offset
              + ": servers stop at offset "
              + stop.offset()
              + " in the journal of queue "
              + queue);
    }
    long recorded = journals.stepOver(queue, stop, reason);
    out.println("Recorded at offset " + recorded + ": servers pass over offset " + offset + ".");
    printStop(journals.stop(queue));
  }

  private String line(Entry entry) {
    String place = "offset=" + entry.offset() + " bytes=" + entry.body().length;
    Sealed sealed = AuthenticatedFormat.parse(entry.body());
    if (sealed == null) {
      return place + " key=none " + content(entry.body());
    }
    JournalKey key = keys == null ? null : keys.ring().key(sealed.keyId());
    if (key == null) {
      return place + " key=unknown";
    }
    if (!authenticated.verifies(sealed, key)) {
      return place + " key=" + key.id() + " rejected=" + RecordRejection.UNAUTHENTICATED.label();
    }
    return place
        + " key="
        + key.id()
        + (sealed.kind() == AuthenticatedFormat.MESSAGE
            ? " " + content(sealed.content())
            : " announces a key");
  }

  /** Without keys, anyone may have written the text. */
  private static String printable(String text) {
    return text.replaceAll("[\\p{Cntrl}\"]", "?");
  }

  private String content(byte[] message) {
    RecordRejection rejection = format.rejection(message);
    if (rejection != null) {
      return "rejected=" + rejection.label();
    }
    RecordChunk chunk = format.read(message);
    RecordHeader header = chunk.header();
    String record =
        "record="
            + header.kind()
            + " chunk="
            + (chunk.index() + 1)
            + "/"
            + chunk.count()
            + " epoch="
            + header.epoch()
            + " number="
            + header.number()
            + " from="
            + header.from()
            + " to="
            + header.to()
            + " written="
            + Instant.ofEpochMilli(header.writtenMillis())
            + " writer="
            + header.writer();
    StepOverRecord step = StepOverRecord.read(message, format);
    return step == null ? record : record + " reason=\"" + printable(step.reason()) + "\"";
  }
}
