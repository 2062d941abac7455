package org.traceetl.server.journal.log;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.traceetl.common.Clocks;
import org.traceetl.server.journal.JournalCounters;
import org.traceetl.server.journal.JournalLog;
import org.traceetl.server.journal.JournalLog.Entry;
import org.traceetl.server.journal.JournalLogs;
import org.traceetl.server.journal.JournalTiming;
import org.traceetl.server.journal.MemoryLogs;
import org.traceetl.server.journal.QueueJournal;
import org.traceetl.server.journal.QueueJournal.Outcome;
import org.traceetl.server.journal.RecordRejection;
import org.traceetl.server.journal.Windows;
import org.traceetl.server.journal.chain.JournalTail;
import org.traceetl.server.journal.chain.LogJournals;
import org.traceetl.server.journal.format.ChunkFormat;
import org.traceetl.server.journal.format.ChunkFormatTest;
import org.traceetl.server.journal.format.RecordHeader;
import org.traceetl.server.journal.format.RecordKind;
import org.traceetl.server.journal.format.RecordPayloads;
import org.traceetl.server.window.QueueId;
import org.traceetl.server.window.SealedWindow;

class AuthenticatedLogTest {
  private static final QueueId QUEUE = new QueueId("broker-a", 0);
  private static final String TOPIC = "trace-windows";
  private static final String GROUP = "servers";
  private static final Duration INTERVAL = Duration.ofMinutes(10);
  private static final int CHUNK = 100;
  private static final String OLD = "k1 " + secret(1);
  private static final String NEW = "k2 " + secret(2);
  private static final String ACTIVE = " active\n";

  @TempDir private Path directory;

  private final MemoryLogs logs = new MemoryLogs();
  private final MemoryLogs.MemoryLog log = logs.open(QUEUE);
  private final JournalCounters counters = new JournalCounters();
  private final Random random = new Random(1);
  private long nowNanos = 1_000_000_000_000L;
  private int files;
  private final JournalTiming timing =
      new JournalTiming(
          new Clocks(
              () -> nowNanos,
              () -> Instant.ofEpochMilli(1_800_000_000_000L + nowNanos / 1_000_000),
              nanos -> nowNanos += nanos),
          random,
          Duration.ofSeconds(30),
          INTERVAL);

  private static String secret(int seed) {
    byte[] secret = new byte[32];
    new Random(seed).nextBytes(secret);
    return Base64.getEncoder().encodeToString(secret);
  }

  private Path file(String content) throws IOException {
    return Files.writeString(directory.resolve("keys-" + files++), content);
  }

  private LogJournals server(Path keys, boolean acceptUnsigned) {
    return plain(
        new AuthenticatedLogs(
            logs, TOPIC, new JournalKeys(keys, acceptUnsigned, () -> nowNanos), counters));
  }

  private LogJournals server(String keys) throws IOException {
    return server(file(keys), false);
  }

  private LogJournals plain(JournalLogs of) {
    return new LogJournals(of, "trace-spans", GROUP, Windows::newImage, timing, counters, CHUNK);
  }

  private static SealedWindow window(long from, long to) {
    return Windows.window(QUEUE, from, to, to - from, 1, 0);
  }

  private List<byte[]> written() {
    return Stream.iterate(0L, from -> from < log.end(), from -> from + 1)
        .map(from -> log.read(from).getFirst().body())
        .toList();
  }

  private void appendAll(List<byte[]> messages) throws IOException {
    for (byte[] message : messages) {
      log.append(message);
    }
  }

  private static long spans(LogJournals of) throws IOException, InterruptedException {
    return Windows.totals(of.take(QUEUE).image())[0];
  }

  @Test
  void aForgedMessageOfALaterVersionStopsNoReader() throws Exception {
    server(OLD + ACTIVE).take(QUEUE).journal().append(window(0, 10));
    log.append(ChunkFormatTest.ofVersion(3, unsealed(log.read(0).getLast())));
    log.append(ChunkFormatTest.ofVersion(2, unsealed(log.read(0).getFirst())));

    assertThat(spans(server(OLD + ACTIVE))).isEqualTo(10);
    assertThat(counters.rejections(RecordRejection.UNAUTHENTICATED)).isEqualTo(2);
    assertThat(counters.rejections(RecordRejection.VERSION)).isZero();
  }

  private static byte[] unsealed(Entry entry) {
    return AuthenticatedFormat.parse(entry.body()).content();
  }

  @Test
  void aForgedWindowDoesNotCount() throws Exception {
    QueueJournal owner = server(OLD + ACTIVE).take(QUEUE).journal();
    RecordHeader claim = format().read(unsealed(log.read(0).getFirst())).header();
    RecordHeader forged =
        new RecordHeader(RecordKind.WINDOW, claim.writer(), claim.epoch(), 1, 0, 1_000, 0);
    byte[] payload = new RecordPayloads(Windows::newImage).bytes(window(0, 1_000));
    appendAll(format().write(forged, payload));

    assertThat(owner.append(window(0, 10))).isEqualTo(Outcome.KEPT);
    assertThat(spans(server(OLD + ACTIVE))).isEqualTo(10);
  }

  private static ChunkFormat format() {
    return new ChunkFormat("trace-spans", QUEUE, CHUNK);
  }

  @Test
  void anyChangedByteOfAMessageIsFound() throws Exception {
    server(OLD + ACTIVE).take(QUEUE);
    byte[] claim = log.read(0).getFirst().body();
    JournalLog opened = opened(OLD + ACTIVE, TOPIC, QUEUE);
    // Servers without keys use the checksum and the queue, which precede the key's ID.
    for (int at = 22; at < claim.length; at++) {
      byte[] changed = claim.clone();
      changed[at] ^= 1;
      long offset = log.append(changed);
      assertThat(opened.read(offset).getFirst().body())
          .describedAs("byte %s", at)
          .isSameAs(JournalLog.LEFT_OUT);
    }
  }

  private JournalLog opened(String keys, String topic, QueueId queue) throws Exception {
    JournalKeys of = new JournalKeys(file(keys), false, () -> nowNanos);
    return new AuthenticatedLog(log, topic, queue, of, counters);
  }

  @Test
  void aMessageOfAnotherPlaceIsFound() throws Exception {
    server(OLD + ACTIVE).take(QUEUE);

    assertThat(opened(OLD + ACTIVE, TOPIC, QUEUE).read(0).getFirst().body()).isNotEmpty();
    for (JournalLog elsewhere :
        List.of(
            opened(OLD + ACTIVE, "trace-windows-2", QUEUE),
            opened(OLD + ACTIVE, TOPIC, new QueueId("broker-b", 0)),
            opened(OLD + ACTIVE, TOPIC, new QueueId("broker-a", 1)))) {
      assertThatThrownBy(() -> elsewhere.read(0)).isInstanceOf(IOException.class);
    }
  }

  @Test
  void repeatedMessagesChangeNothing() throws Exception {
    QueueJournal owner = server(OLD + ACTIVE).take(QUEUE).journal();
    owner.append(window(0, 10));
    nowNanos += INTERVAL.toNanos();
    owner.snapshot();
    owner.append(window(10, 15));
    appendAll(written());

    assertThat(owner.append(window(15, 16))).isEqualTo(Outcome.KEPT);
    owner.release();
    appendAll(written());
    assertThat(spans(server(OLD + ACTIVE))).isEqualTo(16);
  }

  @Test
  void withoutAnActiveKeyTheBytesAreThoseOfAServerWithoutKeys() throws Exception {
    QueueJournal owner = server(file(OLD), true).take(QUEUE).journal();
    owner.append(window(0, 10));

    assertThat(written()).allMatch(message -> format().rejection(message) == null);
    assertThat(spans(plain(logs))).isEqualTo(10);
  }

  @Test
  void aServerWithoutKeysStopsAtAnAuthenticatedMessage() throws Exception {
    server(OLD + ACTIVE).take(QUEUE).journal().append(window(0, 10));

    assertThatThrownBy(() -> plain(logs).take(QUEUE))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("trace-etl.journal.keys-file");
  }

  @Test
  void keysAreSwitchedOnAndOffOverARunningLog() throws Exception {
    plain(logs).take(QUEUE).journal().append(window(0, 10));
    QueueJournal owner = server(file(OLD + ACTIVE), true).take(QUEUE).journal();
    owner.append(window(10, 20));
    nowNanos += INTERVAL.toNanos();
    owner.snapshot();
    assertThat(spans(server(OLD + ACTIVE))).isEqualTo(20);

    QueueJournal off = server(file(OLD), true).take(QUEUE).journal();
    off.append(window(20, 30));
    nowNanos += INTERVAL.toNanos();
    off.snapshot();
    assertThat(spans(plain(logs))).isEqualTo(30);
  }

  @Test
  void aServerThatCanVerifyNothingRefusesTheQueue() throws Exception {
    plain(logs).take(QUEUE).journal().append(window(0, 10));
    long end = log.end();

    assertThatThrownBy(() -> server(OLD + ACTIVE).take(QUEUE))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("can be verified")
        .hasMessageContaining("accept-unsigned");
    assertThatThrownBy(() -> server(OLD + ACTIVE).tail(QUEUE, "index").poll())
        .isInstanceOf(IOException.class);
    assertThat(log.end()).isEqualTo(end);
  }

  @Test
  void anotherSecretOfTheSameNameIsAnotherKey() throws Exception {
    server(OLD + ACTIVE).take(QUEUE).journal().append(window(0, 10));
    String impostor = "k1 " + secret(3) + ACTIVE;

    assertThatThrownBy(() -> server(impostor).take(QUEUE))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("can be verified");
    assertThat(counters.rejections(RecordRejection.UNKNOWN_KEY)).isPositive();
  }

  @Test
  void aReaderWithoutAnAnnouncedKeyStopsUntilItHasTheKey() throws Exception {
    Path keys = file(OLD + ACTIVE);
    LogJournals late = server(keys, false);
    JournalTail tail = late.tail(QUEUE, "index");
    server(OLD + ACTIVE).take(QUEUE).journal().append(window(0, 10));
    server(OLD + "\n" + NEW + ACTIVE).take(QUEUE).journal().append(window(10, 20));

    assertThat(tail.poll()).extracting(kept -> kept.window().to()).containsExactly(10L);
    for (int attempt = 0; attempt < 2; attempt++) {
      assertThatThrownBy(tail::poll).isInstanceOf(IOException.class).hasMessageContaining("k2-");
      assertThatThrownBy(() -> late.take(QUEUE))
          .isInstanceOf(IOException.class)
          .hasMessageContaining("k2-");
    }

    Files.writeString(keys, OLD + "\n" + NEW + ACTIVE);
    nowNanos += Duration.ofSeconds(3).toNanos();
    assertThat(tail.poll()).extracting(kept -> kept.window().to()).containsExactly(20L);
    assertThat(spans(late)).isEqualTo(20);
  }

  @Test
  void aKeyThatNoServerHasAnnouncedIsLeftOut() throws Exception {
    server(OLD + ACTIVE).take(QUEUE).journal().append(window(0, 10));
    JournalKey stranger = new JournalKey("k9", new byte[32]);
    AuthenticatedFormat format = new AuthenticatedFormat(TOPIC, QUEUE);
    byte[] message = unsealed(log.read(0).getLast());
    log.append(format.seal(AuthenticatedFormat.KEY, "k9".getBytes(), stranger));
    log.append(format.seal(AuthenticatedFormat.MESSAGE, message, stranger));

    assertThat(spans(server(OLD + ACTIVE))).isEqualTo(10);
    assertThat(counters.rejections(RecordRejection.UNKNOWN_KEY)).isEqualTo(2);
  }

  @Test
  void anOwnersKeyIsChangedAndChangedBackWhileItRuns() throws Exception {
    Path keys = file(OLD + ACTIVE + NEW);
    QueueJournal owner = server(keys, false).take(QUEUE).journal();
    owner.append(window(0, 10));
    for (int turn = 1; turn <= 3; turn++) {
      Files.writeString(keys, turn % 2 == 1 ? OLD + "\n" + NEW + ACTIVE : OLD + ACTIVE + NEW);
      nowNanos += Duration.ofSeconds(3).toNanos();
      assertThat(owner.append(window(turn * 10L, turn * 10L + 10))).isEqualTo(Outcome.KEPT);
    }
    nowNanos += INTERVAL.toNanos();
    assertThat(owner.snapshot()).isEqualTo(Outcome.KEPT);
    assertThat(owner.snapshotDue()).isFalse();
    assertThat(spans(server(OLD + "\n" + NEW + ACTIVE))).isEqualTo(40);

    // All records of the old key precede the snapshot, so the key may be removed.
    log.deleteBefore(log.mark(GROUP));
    assertThat(spans(server(NEW + ACTIVE))).isEqualTo(40);
  }

  @Test
  void aKeyThatAnnouncedAnotherOneIsItselfAnnounced() throws Exception {
    server(OLD + ACTIVE + NEW).take(QUEUE).journal().append(window(0, 10));
    server(OLD + "\n" + NEW + ACTIVE).take(QUEUE);

    assertThatThrownBy(() -> server(OLD + ACTIVE).take(QUEUE))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("k2-");
  }

  @Test
  void aRollbackThatForgetsTheNewKeyStops() throws Exception {
    server(OLD + ACTIVE + NEW).take(QUEUE).journal().append(window(0, 10));
    server(OLD + "\n" + NEW + ACTIVE).take(QUEUE).journal().append(window(10, 20));

    assertThatThrownBy(() -> server(OLD + ACTIVE).take(QUEUE))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("k2-");
    assertThat(spans(server(OLD + ACTIVE + NEW))).isEqualTo(20);
  }

  @Test
  void aWrongFileIsRefusedWithoutItsSecrets() throws Exception {
    String short16 = Base64.getEncoder().encodeToString(new byte[16]);
    for (String wrong :
        List.of(
            "",
            "# nothing\n",
            OLD,
            "k1" + ACTIVE,
            OLD + " passive",
            OLD + ACTIVE + NEW + ACTIVE,
            OLD + ACTIVE + OLD,
            "k/1 " + secret(1) + ACTIVE,
            "k1 " + short16 + ACTIVE,
            "k1 ###" + ACTIVE)) {
      Path file = file(wrong);
      assertThatThrownBy(() -> server(file, false))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("trace-etl.journal.keys-file = " + file)
          .hasMessageNotContainingAny(secret(1), secret(2), short16);
    }
    assertThatThrownBy(() -> server(directory.resolve("absent"), false))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void aFileThatHasBecomeWrongLeavesTheKeysInForce() throws Exception {
    Path keys = file(OLD + ACTIVE);
    QueueJournal owner = server(keys, false).take(QUEUE).journal();
    for (String wrong : List.of("rubbish", "", OLD)) {
      Files.writeString(keys, wrong);
      nowNanos += Duration.ofSeconds(3).toNanos();
      assertThat(owner.renew()).isEqualTo(Outcome.KEPT);
    }
    Files.delete(keys);
    nowNanos += Duration.ofSeconds(3).toNanos();

    assertThat(owner.append(window(0, 10))).isEqualTo(Outcome.KEPT);
    assertThat(spans(server(OLD + ACTIVE))).isEqualTo(10);
  }

  @Test
  void messagesOfEveryLengthAreSealedAndParsed() {
    AuthenticatedFormat format = new AuthenticatedFormat(TOPIC, QUEUE);
    for (int key = 0; key < 20; key++) {
      JournalKey of = new JournalKey("k" + key, new byte[32]);
      for (byte kind : new byte[] {AuthenticatedFormat.MESSAGE, AuthenticatedFormat.KEY}) {
        for (int length : new int[] {0, 21, 22, 30}) {
          byte[] message = format.seal(kind, new byte[length], of);
          AuthenticatedFormat.Sealed sealed = AuthenticatedFormat.parse(message);
          assertThat(sealed.content()).hasSize(length);
          assertThat(format.verifies(sealed, of)).isTrue();
        }
      }
    }
  }

  @Test
  void whatOnlyBeginsLikeASealedMessageIsNone() {
    byte[] sealed =
        new AuthenticatedFormat(TOPIC, QUEUE)
            .seal(AuthenticatedFormat.KEY, new byte[1], new JournalKey("k1", new byte[32]));
    for (int length : new int[] {0, 4, 22, 40}) {
      assertThat(AuthenticatedFormat.parse(Arrays.copyOf(sealed, length))).isNull();
    }
    byte[] longId = Arrays.copyOf(sealed, 300);
    longId[22] = 65;
    assertThat(AuthenticatedFormat.parse(longId)).isNull();
    byte[] otherMagic = sealed.clone();
    otherMagic[0] = 0;
    assertThat(AuthenticatedFormat.parse(otherMagic)).isNull();
    byte[] otherVersion = sealed.clone();
    otherVersion[4] = 1;
    assertThat(AuthenticatedFormat.parse(otherVersion)).isNull();
  }

  @Test
  void sealedMessagesOfAnUnknownKindAreLeftOut() throws Exception {
    JournalKeys keys = new JournalKeys(file(NEW + ACTIVE), true, () -> nowNanos);
    AuthenticatedFormat format = new AuthenticatedFormat(TOPIC, QUEUE);
    JournalLog opened = new AuthenticatedLogs(logs, TOPIC, keys, counters).open(QUEUE);
    assertThat(opened.read(0)).isEmpty();
    byte[] sealed = format.seal((byte) 2, new byte[30], keys.ring().active());
    log.append(sealed);
    log.append(Arrays.copyOf(sealed, 30));
    log.append(new byte[] {1});

    assertThat(opened.read(0))
        .extracting(Entry::body)
        .containsExactly(JournalLog.LEFT_OUT, JournalLog.LEFT_OUT, new byte[] {1});
    assertThat(counters.rejections(RecordRejection.UNAUTHENTICATED)).isEqualTo(1);
    log.leaveUnconfirmed(true);
    assertThatThrownBy(() -> opened.append(new byte[1])).isInstanceOf(IOException.class);
  }

  @Test
  void aPartOfALogThatCannotBeVerifiedRefusesNothing() throws Exception {
    JournalKeys keys = new JournalKeys(file(NEW + ACTIVE), false, () -> nowNanos);
    JournalLog opened = new AuthenticatedLogs(logs, TOPIC, keys, counters).open(QUEUE);
    log.append(new byte[] {1});
    log.append(new byte[] {2});

    assertThat(opened.read(1)).hasSize(1);
    JournalLog another = new AuthenticatedLogs(logs, TOPIC, keys, counters).open(QUEUE);
    for (int more = 0; more < 40; more++) {
      log.append(new byte[] {3});
    }
    assertThat(another.read(0)).hasSizeLessThan(42);
    log.deleteFrom(2);
    assertThatThrownBy(() -> opened.read(0)).isInstanceOf(UnverifiedLogException.class);
  }

  @Test
  void aLongKeysFileIsRefused() {
    assertThatThrownBy(
            () -> new JournalKeys(file("#".repeat((1 << 16) + 1)), false, () -> nowNanos))
        .hasMessageContaining("64 KiB");
  }
}
