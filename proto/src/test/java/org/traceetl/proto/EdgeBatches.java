package org.traceetl.proto;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.stream.LongStream;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import org.traceetl.proto.thrift.EdgeBatch;
import org.traceetl.proto.thrift.EdgeGroup;

/** Batches of half-edges to test with, and the ways between generated classes and bytes. */
final class EdgeBatches {
  /** All fields of a batch in order, then an unknown one. */
  static final List<Short> FIELDS = Messages.shorts(1, 2, 3, 4, 5, 6, 10, Messages.UNKNOWN);

  /** All fields of a group in order, then an unknown one. */
  static final List<Short> GROUP_FIELDS =
      Messages.shorts(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, Messages.UNKNOWN);

  private static final int[] NO_DIMENSIONS = {};

  private EdgeBatches() {}

  /** Any valid batch of up to 6 heads. */
  static Arbitrary<EdgeBatch> any() {
    return Batches.dictionaries().flatMap(EdgeBatches::withDictionary);
  }

  private static Arbitrary<EdgeBatch> withDictionary(List<ByteBuffer> dictionary) {
    Arbitrary<Integer> indexes = Arbitraries.integers().between(0, dictionary.size() - 1);
    return Combinators.combine(
            Arbitraries.bytes().array(byte[].class).ofSize(16),
            Arbitraries.longs(),
            Arbitraries.longs().greaterOrEqual(0),
            groups(indexes))
        .as((agent, epoch, sequence, groups) -> {
          EdgeBatch batch = new EdgeBatch();
          batch.setVersion(3);
          batch.setAgent(agent);
          batch.setEpoch(epoch);
          batch.setSequence(sequence);
          batch.setDictionary(dictionary);
          batch.setGroups(groups);
          return counted(batch);
        });
  }

  /** Groups of which no two have equal heads. */
  private static Arbitrary<List<EdgeGroup>> groups(Arbitrary<Integer> indexes) {
    return Combinators.combine(
            indexes,
            indexes.injectNull(0.5),
            Arbitraries.integers().between(0, 23),
            indexes.injectNull(0.5),
            Batches.thresholds().injectNull(0.5),
            Batches.pairs(indexes, 20).injectNull(0.3),
            Arbitraries.bytes().array(byte[].class).ofSize(10).list().ofMaxSize(30),
            Combinators.combine(
                    Batches.durations().list().ofMinSize(1).ofMaxSize(40),
                    Arbitraries.longs().between(0, Limits.MAX_MESSAGE_MICROS).list().ofSize(30))
                .as(Numbers::new))
        .as((application, namespace, kind, peer, threshold, dimensions, keys, numbers) -> {
          List<Long> durations = numbers.durations;
          EdgeGroup group = new EdgeGroup();
          group.setApplication(application);
          group.setSide((byte) (1 + kind % 4));
          group.setFailed(kind / 4 % 2 == 1);
          group.setConnection_type((byte) (kind / 8));
          if (namespace != null) {
            group.setNamespace_name(namespace);
          }
          if (peer != null) {
            group.setPeer(peer);
          }
          if (threshold != null) {
            group.setSampling_threshold(threshold);
          }
          group.setDimensions(dimensions);
          int waiting = Math.min(keys.size(), durations.size());
          ByteBuffer bytes = ByteBuffer.allocate(10 * waiting);
          keys.subList(0, waiting).forEach(bytes::put);
          group.setKeys(bytes.array());
          group.setDurations_nanos(durations);
          if (group.getSide() > 2 && waiting > 0) {
            group.setMessage_steps_micros(steps(numbers.messages.subList(0, waiting)));
          }
          return group;
        })
        .list()
        .ofMaxSize(6)
        .uniqueElements(group -> headOf(canonical(group)));
  }

  private record Numbers(List<Long> durations, List<Long> messages) {}

  /** Returns each time as the difference to the one before. */
  private static List<Long> steps(List<Long> times) {
    List<Long> steps = new ArrayList<>();
    for (int i = 0; i < times.size(); i++) {
      steps.add(times.get(i) - (i == 0 ? 0 : times.get(i - 1)));
    }
    return steps;
  }

  private static EdgeGroup headOf(EdgeGroup group) {
    EdgeGroup head = group.deepCopy();
    head.unsetKeys();
    head.unsetDurations_nanos();
    head.unsetMessage_steps_micros();
    return head;
  }

  /** Sets the number of halves. */
  static EdgeBatch counted(EdgeBatch batch) {
    batch.setHalf_count(
        batch.getGroups().stream().mapToInt(EdgeGroup::getDurations_nanosSize).sum());
    return batch;
  }

  /** One fixed batch that has everything the format has. */
  static EdgeBatch fixed() {
    EdgeBatch batch = new EdgeBatch();
    batch.setVersion(3);
    batch.setAgent(Batches.ids(0x0102030405060708L, 0x090a0b0c0d0e0f10L));
    batch.setEpoch(7);
    batch.setSequence(300);
    for (String string :
        List.of("checkout", "shop", "inventory:8080", "region", "eu-west-1", "naïve café", "")) {
      batch.addToDictionary(ByteBuffer.wrap(string.getBytes(UTF_8)));
    }
    // Indexes of two bytes too.
    for (int i = 7; i < 70; i++) {
      batch.addToDictionary(ByteBuffer.wrap(("entry " + i).getBytes(UTF_8)));
    }
    batch.addToGroups(
        new EdgeGroup()
            .setApplication(0)
            .setSide((byte) 2)
            .setKeys(keys(2))
            .setDurations_nanos(List.of(12_345_678L, 0L, 63L, Long.MAX_VALUE)));
    batch.addToGroups(
        new EdgeGroup()
            .setApplication(69)
            .setNamespace_name(1)
            .setFailed(true)
            .setConnection_type((byte) 1)
            .setPeer(2)
            .setSampling_threshold(1L << 55)
            .setDimensions(List.of(3, 4, 65, 69))
            .setSide((byte) 3)
            .setKeys(keys(20))
            .setDurations_nanos(Collections.nCopies(20, 1_000_000L))
            .setMessage_steps_micros(
                steps(
                    LongStream.range(0, 20)
                        .mapToObj(i -> 1_700_000_000_000_000L + i % 3 * 70)
                        .toList())));
    batch.addToGroups(
        new EdgeGroup()
            .setApplication(5)
            .setConnection_type((byte) 2)
            .setPeer(6)
            .setSide((byte) 1)
            .setDurations_nanos(List.of(250_000L)));
    return counted(batch);
  }

  private static byte[] keys(int count) {
    ByteBuffer keys = ByteBuffer.allocate(10 * count);
    for (int i = 0; i < count; i++) {
      keys.putLong(EdgeKey.key(1, 2, i)).putShort((short) EdgeKey.check(1, 2, i));
    }
    return keys.array();
  }

  /** The message as a generated class writes it. */
  static byte[] generated(EdgeBatch batch) {
    return Messages.permuted(
        batch, FIELDS.subList(0, FIELDS.size() - 1), GROUP_FIELDS.subList(0, 11));
  }

  /** The message as the project's writer makes it: a half of each group in turn. */
  static byte[] written(EdgeBatch batch, EdgeBatchWriter writer) {
    writer.begin();
    List<ByteBuffer> dictionary = batch.getDictionary();
    for (int i = 0; i < dictionary.size(); i++) {
      byte[] bytes = Messages.bytes(dictionary.get(i));
      assertThat(writer.intern(bytes, 0, bytes.length)).isEqualTo(i);
    }
    int rounds =
        batch.getGroups().stream().mapToInt(EdgeGroup::getDurations_nanosSize).max().orElse(0);
    for (int round = 0; round < rounds; round++) {
      for (EdgeGroup group : batch.getGroups()) {
        if (round < group.getDurations_nanosSize()) {
          head(writer, group);
          half(writer, group, round);
        }
      }
    }
    assertThat(writer.halfCount()).isEqualTo(batch.getHalf_count());
    int bound = writer.sizeBytes();
    ByteBuffer agent = ByteBuffer.wrap(batch.getAgent());
    int length =
        writer.finish(agent.getLong(), agent.getLong(), batch.getEpoch(), batch.getSequence());
    assertThat(length).isLessThanOrEqualTo(bound);
    return Arrays.copyOf(writer.buffer(), length);
  }

  private static void head(EdgeBatchWriter writer, EdgeGroup group) {
    int[] dimensions =
        group.isSetDimensions()
            ? group.getDimensions().stream().mapToInt(Integer::intValue).toArray()
            : NO_DIMENSIONS;
    writer.head(
        group.getApplication(),
        group.isSetNamespace_name() ? group.getNamespace_name() : -1,
        group.getSide(),
        group.isFailed(),
        group.getConnection_type(),
        group.isSetPeer() ? group.getPeer() : -1,
        group.getSampling_threshold(),
        dimensions,
        dimensions.length / 2);
  }

  private static void half(EdgeBatchWriter writer, EdgeGroup group, int i) {
    long duration = group.getDurations_nanos().get(i);
    byte[] keys = group.isSetKeys() ? group.getKeys() : new byte[0];
    if (10 * i < keys.length) {
      ByteBuffer key = ByteBuffer.wrap(keys, 10 * i, 10);
      long message = 0;
      for (int step = 0; group.isSetMessage_steps_micros() && step <= i; step++) {
        message += group.getMessage_steps_micros().get(step);
      }
      writer.waiting(key.getLong(), Short.toUnsignedInt(key.getShort()), duration, message);
    } else {
      writer.immediate(duration);
    }
  }

  /** The message as the project's reader reads it; it must be valid. */
  static EdgeBatch read(byte[] message, EdgeBatchReader reader) {
    // Inside a larger array, as a message of a receive buffer may be.
    byte[] buffer = new byte[message.length + 7];
    Arrays.fill(buffer, (byte) 0xff);
    System.arraycopy(message, 0, buffer, 3, message.length);
    assertThat(reader.wrap(buffer, 3, message.length)).isEqualTo(Rejection.NONE);

    EdgeBatch batch = new EdgeBatch();
    batch.setVersion(3);
    batch.setAgent(Batches.ids(reader.agentHigh(), reader.agentLow()));
    batch.setEpoch(reader.epoch());
    batch.setSequence(reader.sequence());
    batch.setHalf_count(reader.halfCount());
    batch.setDictionary(new ArrayList<>());
    for (int i = 0; i < reader.dictionarySize(); i++) {
      int start = reader.dictionaryOffset(i);
      batch.addToDictionary(
          ByteBuffer.wrap(
              Arrays.copyOfRange(reader.buffer(), start, start + reader.dictionaryLength(i))));
    }
    batch.setGroups(new ArrayList<>());
    while (reader.nextHead()) {
      batch.addToGroups(groupAtCursor(reader));
    }
    assertThat(reader.nextHead()).isFalse();
    assertThat(reader.rejection()).isEqualTo(Rejection.NONE);
    return batch;
  }

  private static EdgeGroup groupAtCursor(EdgeBatchReader reader) {
    EdgeGroup group = new EdgeGroup();
    group.setApplication(reader.application());
    group.setSide((byte) reader.side());
    if (reader.namespace() >= 0) {
      group.setNamespace_name(reader.namespace());
    }
    if (reader.isFailed()) {
      group.setFailed(true);
    }
    if (reader.connectionType() != 0) {
      group.setConnection_type((byte) reader.connectionType());
    }
    if (reader.peer() >= 0) {
      group.setPeer(reader.peer());
    }
    if (reader.samplingThreshold() != 0) {
      group.setSampling_threshold(reader.samplingThreshold());
    }
    for (int i = 0; i < 2 * reader.dimensionCount(); i++) {
      group.addToDimensions(reader.dimensions()[i]);
    }
    ByteBuffer keys = ByteBuffer.allocate(10 * reader.halfCount());
    boolean immediate = false;
    List<Long> messages = new ArrayList<>();
    while (reader.next()) {
      if (reader.isWaiting()) {
        assertThat(immediate).as("waiting halves precede immediate ones").isFalse();
        keys.putLong(reader.key()).putShort((short) reader.check());
        messages.add(reader.messageMicros());
      } else {
        immediate = true;
        assertThat(reader.key() | reader.check() | reader.messageMicros()).isZero();
      }
      group.addToDurations_nanos(reader.durationNanos());
    }
    assertThat(reader.next()).isFalse();
    if (keys.position() > 0) {
      group.setKeys(Arrays.copyOf(keys.array(), keys.position()));
      if (reader.side() > 2) {
        group.setMessage_steps_micros(steps(messages));
      } else {
        assertThat(messages).containsOnly(0L);
      }
    }
    return group;
  }

  /** The batch as the project's writer writes it: without optional fields that have no effect. */
  static EdgeBatch canonical(EdgeBatch batch) {
    EdgeBatch copy = batch.deepCopy();
    copy.setGroups(new ArrayList<>(copy.getGroups()));
    copy.getGroups().replaceAll(EdgeBatches::canonical);
    return copy;
  }

  private static EdgeGroup canonical(EdgeGroup group) {
    EdgeGroup copy = group.deepCopy();
    if (!copy.isFailed()) {
      copy.unsetFailed();
    }
    if (copy.getConnection_type() == 0) {
      copy.unsetConnection_type();
    }
    if (copy.getSampling_threshold() == 0) {
      copy.unsetSampling_threshold();
    }
    if (copy.getDimensionsSize() == 0) {
      copy.unsetDimensions();
    }
    if (copy.isSetKeys() && copy.getKeys().length == 0) {
      copy.unsetKeys();
    }
    if (copy.getMessage_steps_microsSize() == 0) {
      copy.unsetMessage_steps_micros();
      if (copy.getSide() > 2 && copy.isSetKeys()) {
        copy.setMessage_steps_micros(Collections.nCopies(copy.getKeys().length / 10, 0L));
      }
    }
    return copy;
  }

  /** Reads a message to its end and checks what holds for every message, valid or not. */
  static Rejection outcome(EdgeBatchReader reader, byte[] message, int offset, int length) {
    Rejection first = reader.wrap(message, offset, length);
    assertThat(first).isEqualTo(reader.rejection());
    int dictionary = reader.dictionarySize();
    for (int i = 0; i < dictionary; i++) {
      check(reader.dictionaryOffset(i) >= offset && reader.dictionaryLength(i) >= 0);
      check(reader.dictionaryOffset(i) + reader.dictionaryLength(i) <= offset + length);
    }
    check(reader.halfCount() >= 0 && reader.halfCount() <= Limits.MAX_HALF_EDGES);
    check(!reader.next());
    int halves = 0;
    while (reader.nextHead()) {
      check(reader.rejection() == Rejection.NONE);
      checkHead(reader, dictionary);
      int before = halves;
      while (reader.next()) {
        check(reader.durationNanos() >= 0);
        check(reader.check() >= 0 && reader.check() <= 0xffff);
        check(reader.messageMicros() >= 0);
        check(reader.messageMicros() <= Limits.MAX_MESSAGE_MICROS);
        halves++;
      }
      check(halves > before);
      checkNoHalf(reader);
    }
    check(!reader.nextHead() && !reader.next());
    check(reader.application() == -1 && reader.dimensionCount() == 0);
    checkNoHalf(reader);
    if (reader.rejection() == Rejection.NONE) {
      check(halves == reader.halfCount());
    } else {
      check(halves <= reader.halfCount());
    }
    return reader.rejection();
  }

  private static void checkHead(EdgeBatchReader reader, int dictionary) {
    check(reader.application() >= 0 && reader.application() < dictionary);
    check(reader.namespace() >= -1 && reader.namespace() < dictionary);
    check(reader.peer() >= -1 && reader.peer() < dictionary);
    check(reader.side() >= 1 && reader.side() <= 4);
    check(reader.connectionType() >= 0 && reader.connectionType() <= 2);
    check(reader.samplingThreshold() >= 0 && reader.samplingThreshold() < 1L << 56);
    for (int i = 0; i < 2 * reader.dimensionCount(); i++) {
      check(reader.dimensions()[i] >= 0 && reader.dimensions()[i] < dictionary);
    }
    checkNoHalf(reader);
  }

  private static void checkNoHalf(EdgeBatchReader reader) {
    check(!reader.isWaiting() && reader.key() == 0 && reader.check() == 0);
    check(reader.durationNanos() == 0 && reader.messageMicros() == 0);
  }

  private static void check(boolean condition) {
    if (!condition) {
      throw new AssertionError();
    }
  }
}
